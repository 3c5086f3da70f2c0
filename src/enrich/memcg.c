// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What the memory controller says of a cgroup: charge and limit, in both versions. Follows no path
 * out of the hierarchy.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"
#include "enrich/cgroup_mounts.h"
#include "proc/cgroup.h"
#include "enrich/enrich.h"

#define COMPONENT_MAX 256

/* No limit: PAGE_COUNTER_MAX pages, which v1 shows as a number near 2^63. */
#define UNLIMITED ((uint64_t)1 << 62)

struct counters {
	uint64_t current, limit; /* UNLIMITED: there is none */
};

static const struct counters no_counters = {UNLIMITED, UNLIMITED};

/* ---- files of one cgroup ---- */

/* 0, or a negative errno if we lack files or memory; what is no number, as "max", is UNLIMITED. */
static int read_number(int dirfd, const char *name, uint64_t *ret)
{
	char text[32];
	ssize_t len = file_read(dirfd, name, text, sizeof(text));

	*ret = UNLIMITED;
	if (len > 0 && text[len - 1] == '\n')
		parse_u64(text, (size_t)len - 1, UNLIMITED - 1, ret);
	return file_exhausted((int)len) ? (int)len : 0;
}

static int read_limit(int dirfd, const char *name, uint64_t *lowest)
{
	uint64_t limit;
	int r = read_number(dirfd, name, &limit);

	if (limit < *lowest)
		*lowest = limit;
	return r;
}

/* What v1 has reckoned itself, also over what we do not see: that counts, if it is there. */
static int read_stat_limit(int dirfd, uint64_t *lowest)
{
	static const char key[] = "\nhierarchical_memory_limit ";
	char text[8192];
	ssize_t len = file_read(dirfd, "memory.stat", text, sizeof(text));
	const char *at = len > 0 ? strstr(text, key) : NULL;
	const char *end = at ? strchr(at + 1, '\n') : NULL;

	if (end) {
		at += sizeof(key) - 1;
		*lowest = UNLIMITED;
		parse_u64(at, (size_t)(end - at), UNLIMITED - 1, lowest);
	}
	return file_exhausted((int)len) ? (int)len : 0;
}

/* The root of all, which nothing is charged to: v2's has no such file, v1's has one more. */
static bool is_v1_root(int dirfd)
{
	return faccessat(dirfd, "release_agent", F_OK, 0) == 0;
}

/* The last directory; limits of all there are on the way. */
static int read_cgroup(const struct cgroup_mounts *h, int dirfd, bool last, struct counters *f)
{
	int r = read_limit(dirfd, h->v2 ? "memory.max" : "memory.limit_in_bytes", &f->limit);

	if (r < 0 || !last || (!h->v2 && is_v1_root(dirfd)))
		return r;
	if (!h->v2)
		r = read_stat_limit(dirfd, &f->limit);
	return r < 0 ? r
		     : read_number(dirfd, h->v2 ? "memory.current" : "memory.usage_in_bytes",
				   &f->current);
}

/* Opens the next component, behind which *path is then. Returns an fd or a negative errno. */
static int step_down(int dirfd, const char **path)
{
	char name[COMPONENT_MAX];
	size_t len = strcspn(*path, "/");
	int fd;

	if (len >= sizeof(name))
		return -ENOENT;
	memcpy(name, *path, len);
	name[len] = '\0';
	*path += len;
	*path += strspn(*path, "/");
	/* cgroup_below() let no ".." through. */
	fd = openat(dirfd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int walk(const struct cgroup_mounts *h, int root, const char *path, struct counters *f)
{
	cleanup_close int fd = fcntl(root, F_DUPFD_CLOEXEC, 0);
	int r = fd < 0 ? -errno : read_cgroup(h, fd, !*path, f);

	while (r == 0 && *path) {
		int next = step_down(fd, &path);

		close(TAKE_FD(fd));
		if (next < 0)
			return next;
		fd = next;
		r = read_cgroup(h, fd, !*path, f);
	}
	return r;
}

/* Of a cgroup that is not there nothing is known, not even what is above it. */
static int read_counters(const struct cgroup_mounts *h, const char *path, struct counters *ret)
{
	*ret = no_counters;
	for (size_t i = 0; i < h->mounts; i++) {
		const char *below = cgroup_below(h->mount[i].root, path);
		struct counters f = no_counters;
		int r = below ? walk(h, h->mount[i].fd, below, &f) : -ENOENT;

		if (file_exhausted(r))
			return r;
		/* The root of all has no charge, and no limit that would be one. */
		if (r == 0 && f.current < UNLIMITED) {
			*ret = f;
			return 0;
		}
	}
	return 0;
}

/* ---- rows ---- */

static void set_counters(struct process *p, const struct counters *f)
{
	if (f->current < UNLIMITED)
		process_set(p, COUNTER_MEM_CURRENT, f->current);
	if (f->limit < UNLIMITED)
		process_set(p, COUNTER_MEM_LIMIT, f->limit);
}

int enrich_memcgs(const struct procfs *proc, struct snapshot *s, struct rows *groups)
{
	cleanup(arena_release) struct arena_mark mark = arena_mark(&s->scratch);
	cleanup(cgroup_mounts_close) struct cgroup_mounts h = {};
	int r = cgroup_mounts_open(proc, mark.arena, &h);

	for (size_t i = 0; r == 0 && i < groups->count; i++) {
		struct process *p = groups->item[i];
		struct counters f;

		if (!p->controlled || !p->cgroup)
			continue;
		r = read_counters(&h, p->cgroup, &f);
		if (r == 0)
			set_counters(p, &f);
	}
	return r;
}
