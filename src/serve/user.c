// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Finds a free user: reads the users and groups of /etc and the ids of all processes in /proc. */
#include "serve/user.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"

#define RANGE	 (USER_LAST - USER_FIRST + 1)
#define FIELDS	 4    /* of a line that are read */
#define IDS	 4    /* real, effective, saved, file system */
#define HEAD_MAX 2048 /* bytes of /proc/PID/status that contain the ids */

struct search {
	bool used[RANGE]; /* as a user or as a group */
	struct user own;  /* the package's user; uid 0: none */
};

static void mark_used(struct search *s, uint64_t first, uint64_t count)
{
	for (uint64_t i = 0; i < RANGE; i++) {
		if (USER_FIRST + i >= first && USER_FIRST + i - first < count)
			s->used[i] = true;
	}
}

/* ---- files of /etc: fields separated by colons ---- */

static bool parse_id(const char *field, uint64_t *ret)
{
	return field && parse_u64(field, strcspn(field, "\n"), UINT32_MAX, ret) == 0;
}

static void mark_user(struct search *s, char *const field[FIELDS])
{
	uint64_t uid, gid;

	if (!parse_id(field[2], &uid) || !parse_id(field[3], &gid))
		return;
	mark_used(s, uid, 1);
	mark_used(s, gid, 1);
	/* An entry with uid 0 or gid 0 would keep the rights of root. */
	if (strcmp(field[0], USER_NAME) == 0 && uid && gid)
		s->own = (struct user){(uid_t)uid, (gid_t)gid};
}

static void mark_group(struct search *s, char *const field[FIELDS])
{
	uint64_t gid;

	if (parse_id(field[2], &gid))
		mark_used(s, gid, 1);
}

static void mark_range(struct search *s, char *const field[FIELDS])
{
	uint64_t first, count;

	if (parse_id(field[1], &first) && parse_id(field[2], &count))
		mark_used(s, first, count);
}

static const struct {
	const char *name;
	void (*mark)(struct search *s, char *const field[FIELDS]);
} files[] = {
	{"passwd", mark_user},
	{"group", mark_group},
	{"subuid", mark_range},
	{"subgid", mark_range},
};

static int read_lines(struct search *s, const char *path,
		      void (*mark)(struct search *s, char *const field[FIELDS]))
{
	cleanup_fclose FILE *file = fopen(path, "re");
	cleanup_free char *line = NULL;
	size_t cap = 0;

	if (!file)
		return file_exhausted(-errno) ? -errno : 0;
	errno = 0;
	while (getline(&line, &cap, file) >= 0) {
		char *field[FIELDS] = {}, *rest = line;

		for (size_t i = 0; i < FIELDS && rest; i++)
			field[i] = strsep(&rest, ":");
		mark(s, field);
	}
	return file_exhausted(-errno) ? -errno : 0;
}

/* ---- processes ---- */

static void mark_ids(struct search *s, const char *text, size_t len, const char *key)
{
	const char *at = strstr(text, key);
	uint64_t id;

	if (!at)
		return;
	at += strlen(key);
	for (int i = 0; i < IDS && scan_u64(&at, text + len, &id); i++)
		mark_used(s, id, 1);
}

static int mark_processes(struct search *s, const char *path)
{
	cleanup_closedir DIR *proc = opendir(path);
	const struct dirent *entry;

	if (!proc)
		return file_exhausted(-errno) ? -errno : 0;
	while ((entry = readdir(proc))) {
		char name[sizeof(entry->d_name) + sizeof("/status")], text[HEAD_MAX];
		ssize_t len;

		if (!is_digit(*entry->d_name))
			continue;
		snprintf(name, sizeof(name), "%s/status", entry->d_name);
		len = file_read(dirfd(proc), name, text, sizeof(text));
		if (len < 0 && file_exhausted((int)len))
			return (int)len;
		if (len < 0)
			continue;
		mark_ids(s, text, (size_t)len, "\nUid:");
		mark_ids(s, text, (size_t)len, "\nGid:");
	}
	return 0;
}

/* ---- the choice ---- */

static int pick_unused(const struct search *s, struct user *ret)
{
	uint32_t random;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return -errno;
	for (uint32_t i = 0; i < RANGE; i++) {
		uint32_t at = (random % RANGE + i) % RANGE;

		if (s->used[at])
			continue;
		*ret = (struct user){USER_FIRST + at, USER_FIRST + at};
		return 0;
	}
	return -EUSERS;
}

static int search(struct search *s, const char *root)
{
	cleanup_free char *path = NULL;
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(files) && r == 0; i++) {
		cleanup_free char *file = NULL;

		if (asprintf(&file, "%s/etc/%s", root, files[i].name) < 0)
			return -ENOMEM;
		r = read_lines(s, file, files[i].mark);
	}
	if (r < 0 || s->own.uid)
		return r;
	if (asprintf(&path, "%s/proc", root) < 0)
		return -ENOMEM;
	return mark_processes(s, path);
}

int user_pick(const char *root, struct user *ret)
{
	struct search s = {};
	int r = search(&s, root);

	if (r < 0)
		return r;
	if (!s.own.uid)
		return pick_unused(&s, ret);
	*ret = s.own;
	return 0;
}
