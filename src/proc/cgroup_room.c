// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "proc/cgroup_room.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "proc/cgroup.h"

#define MOUNTS_SIZE ((size_t)128 << 10)

/* UINT64_MAX: no number ("max"), or no such file, as in the root. */
static uint64_t read_number(const char *dir, const char *name)
{
	char path[3 * PATH_MAX], text[32];
	uint64_t number;
	ssize_t len;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	len = file_read(-1, path, text, sizeof(text));
	return len > 1 && parse_u64(text, (size_t)len - 1, UINT64_MAX, &number) == 0 ? number
										     : UINT64_MAX;
}

static uint64_t room_of(const char *dir, bool v2)
{
	uint64_t limit = read_number(dir, v2 ? "memory.max" : "memory.limit_in_bytes");
	uint64_t used = read_number(dir, v2 ? "memory.current" : "memory.usage_in_bytes");

	if (limit == UINT64_MAX)
		return limit;
	return used < limit ? limit - used : 0;
}

/* The least room of the cgroup and of those above it that the mount shows. */
static uint64_t room_in(const struct cgroup_mount *m, const char *below)
{
	char dir[2 * PATH_MAX + 2];
	size_t top = strlen(m->point);
	uint64_t least = UINT64_MAX;

	snprintf(dir, sizeof(dir), "%s/%s", m->point, below);
	for (char *end = dir + strlen(dir); end && end >= dir + top; end = strrchr(dir, '/')) {
		uint64_t room;

		*end = '\0';
		room = room_of(dir, m->v2);
		least = room < least ? room : least;
	}
	return least;
}

uint64_t cgroup_room(void)
{
	cleanup_free char *mounts = malloc(MOUNTS_SIZE);
	char text[2 * PATH_MAX], path[PATH_MAX];
	struct proc_cgroup own;
	struct cgroup_mount m;
	struct text_part rest;
	uint64_t least = UINT64_MAX;
	bool known = false;
	ssize_t len = file_read(-1, "/proc/self/cgroup", text, sizeof(text));

	if (!mounts || len <= 0 || proc_cgroup_parse(text, (size_t)len, &own) < 0)
		return 0;
	snprintf(path, sizeof(path), "%.*s", own.controlled ? (int)own.path.len : 1,
		 own.controlled ? own.path.s : "/");
	len = file_read(-1, "/proc/self/mountinfo", mounts, MOUNTS_SIZE);
	rest = (struct text_part){mounts, len > 0 ? (size_t)len : 0};
	while (cgroup_mount_next(&rest, &m)) {
		const char *below = cgroup_below(m.root, path);
		uint64_t room = below ? room_in(&m, below) : UINT64_MAX;

		known |= below != NULL;
		least = room < least ? room : least;
	}
	return known ? least : 0;
}
