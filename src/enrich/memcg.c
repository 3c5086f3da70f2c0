// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Memory cgroups of groups: the charge and the limit, in v1 and v2. No path leads out of the
 * hierarchy. Grouping the processes finds the cgroups, so only src/query/sums.c maps a unit to its
 * cgroup.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"
#include "enrich/enrich.h"
#include "proc/cgroup.h"

/* ---- mounts ---- */

#define CGROUP_MOUNTS_MAX 8

/* The mounts that show the hierarchy with the memory controller, or parts of it. */
struct cgroup_mounts {
	struct {
		int fd; /* O_PATH */
		char *root;
	} mount[CGROUP_MOUNTS_MAX];
	size_t mounts;
	bool v2;
};

#define MOUNTINFO_MIN ((size_t)16 * 1024)
#define MOUNTINFO_MAX ((size_t)1024 * 1024)

static void cgroup_mounts_close(struct cgroup_mounts *h)
{
	for (size_t i = 0; i < h->mounts; i++)
		close(h->mount[i].fd);
	h->mounts = 0;
}

static int add_mount(struct cgroup_mounts *h, const struct cgroup_mount *m, struct arena *arena)
{
	int fd;

	/* Only one of v1 and v2 has the memory controller; v1 has it if it is mounted. */
	if (h->v2 && !m->v2)
		cgroup_mounts_close(h);
	else if (h->mounts && !h->v2 && m->v2)
		return 0;
	if (h->mounts == CGROUP_MOUNTS_MAX)
		return 0;
	h->v2 = m->v2;
	fd = open(m->point, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return file_exhausted(-errno) ? -errno : 0;
	h->mount[h->mounts].root = arena_strndup(arena, m->root, strlen(m->root));
	if (!h->mount[h->mounts].root) {
		close(fd);
		return -ENOMEM;
	}
	h->mount[h->mounts++].fd = fd;
	return 0;
}

/* Reads the whole file, which is small unless there are hundreds of containers. */
static ssize_t read_mounts(const struct procfs *proc, struct arena *arena, char **ret)
{
	for (size_t cap = MOUNTINFO_MIN;; cap *= 4) {
		ssize_t len;

		*ret = arena_alloc(arena, cap);
		if (!*ret)
			return -ENOMEM;
		len = file_read(proc->fd, "self/mountinfo", *ret, cap);
		if (len < (ssize_t)cap - 1 || cap >= MOUNTINFO_MAX)
			return len;
	}
}

/* Roots belong to the arena. Returns 0, also without /proc, or a negative errno; close it in any
 * case. */
static int cgroup_mounts_open(const struct procfs *proc, struct arena *arena,
			      struct cgroup_mounts *h)
{
	struct cgroup_mount *m = arena_alloc(arena, sizeof(*m));
	char *text = NULL;
	const char *pos;
	ssize_t len;
	int r = 0;

	if (!m)
		return -ENOMEM;
	len = proc->fd < 0 ? -ENOENT : read_mounts(proc, arena, &text);
	if (len < 0)
		return file_exhausted((int)len) ? (int)len : 0;
	pos = text;
	while (r == 0 && cgroup_mount_next(&pos, text + len, m))
		r = add_mount(h, m, arena);
	return r;
}

/* ---- values of one cgroup ---- */

#define COMPONENT_MAX 256

/* No limit: PAGE_COUNTER_MAX pages, which v1 shows as a number near 2^63. */
#define UNLIMITED ((uint64_t)1 << 62)

struct counters {
	uint64_t current, limit; /* UNLIMITED: there is none */
};

static const struct counters no_counters = {UNLIMITED, UNLIMITED};

/* Returns 0, or a negative errno without files or memory. "max" and other text is UNLIMITED. */
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

/* The limit that v1 computed, which includes cgroups that we cannot see. */
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

/* The root of v1, which has no charge, is recognised by this file; the root of v2 has no counters.
 */
static bool is_v1_root(int dirfd)
{
	return faccessat(dirfd, "release_agent", F_OK, 0) == 0;
}

/* Reads the limit of a directory on the path, and the charge of the last one. */
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

/* Opens the next component and moves *path after it. Returns an fd or a negative errno. */
static int open_component(int dirfd, const char **path)
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
	/* cgroup_below() refused "..". */
	fd = openat(dirfd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int read_path(const struct cgroup_mounts *h, int root, const char *path, struct counters *f)
{
	cleanup_close int fd = fcntl(root, F_DUPFD_CLOEXEC, 0);
	int r = fd < 0 ? -errno : read_cgroup(h, fd, !*path, f);

	while (r == 0 && *path) {
		int next = open_component(fd, &path);

		close(TAKE_FD(fd));
		if (next < 0)
			return next;
		fd = next;
		r = read_cgroup(h, fd, !*path, f);
	}
	return r;
}

/* A cgroup that does not exist has no values, not even the limits above it. */
static int read_counters(const struct cgroup_mounts *h, const char *path, struct counters *ret)
{
	*ret = no_counters;
	for (size_t i = 0; i < h->mounts; i++) {
		const char *below = cgroup_below(h->mount[i].root, path);
		struct counters f = no_counters;
		int r = below ? read_path(h, h->mount[i].fd, below, &f) : -ENOENT;

		if (file_exhausted(r))
			return r;
		/* The root has no charge, and no limit. */
		if (r == 0 && f.current < UNLIMITED) {
			*ret = f;
			return 0;
		}
	}
	return 0;
}

/* ---- groups ---- */

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

/* ---- all cgroups, units and containers of a snapshot ---- */

static const char *const keys[] = {"unit", "container", "cgroup"};

struct memcgs {
	struct memcg *item;
	size_t count;
};

static int compare_path(const void *pa, const void *pb)
{
	const struct memcg *a = pa, *b = pb;

	return strcmp(a->path, b->path);
}

/* Copies the paths into the arena of the snapshot. */
static int add_groups(const struct rows *groups, struct arena *arena, struct memcgs *m)
{
	struct memcg *more = reallocarray(m->item, m->count + groups->count + 1, sizeof(*m->item));

	if (!more)
		return -ENOMEM;
	m->item = more;
	for (size_t i = 0; i < groups->count; i++) {
		const struct process *g = groups->item[i];
		const char *path;

		if (!g->controlled || !g->cgroup)
			continue;
		path = arena_strndup(arena, g->cgroup, strlen(g->cgroup));
		if (!path)
			return -ENOMEM;
		m->item[m->count++] = (struct memcg){
			.path = path,
			.current_known = process_has(g, COUNTER_MEM_CURRENT),
			.limit_known = process_has(g, COUNTER_MEM_LIMIT),
			.current = g->value[COUNTER_MEM_CURRENT],
			.limit = g->value[COUNTER_MEM_LIMIT],
		};
	}
	return 0;
}

static int read_groups(const struct procfs *proc, struct snapshot *s, const char *key,
		       struct rows *rows, struct memcgs *m)
{
	cleanup(sums_done) struct sums groups = {};
	int r = group_rows(column_find(key, strlen(key)), rows, &groups);

	if (r == 0)
		r = enrich_memcgs(proc, s, &groups.rows);
	return r < 0 ? r : add_groups(&groups.rows, &s->arena, m);
}

int memcgs_read(const struct procfs *proc, struct snapshot *s, struct rows *rows)
{
	cleanup_free struct memcg *item = NULL;
	struct memcgs m = {};
	size_t count = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(keys); i++)
		r = read_groups(proc, s, keys[i], rows, &m);
	item = m.item;
	if (r < 0 || !m.count)
		return r;
	qsort(item, m.count, sizeof(*item), compare_path);
	s->memcg = arena_zalloc(&s->arena, m.count, sizeof(*item));
	if (!s->memcg)
		return -ENOMEM;
	/* A unit and a cgroup can have the same path. */
	for (size_t i = 0; i < m.count; i++) {
		if (!i || strcmp(item[i - 1].path, item[i].path) != 0)
			s->memcg[count++] = item[i];
	}
	s->memcg_count = count;
	return 0;
}

void memcgs_apply(const struct snapshot *s, struct rows *groups)
{
	for (size_t i = 0; i < groups->count; i++) {
		struct process *g = groups->item[i];
		const struct memcg *m =
			g->controlled && g->cgroup ? snapshot_find_memcg(s, g->cgroup) : NULL;

		if (m && m->current_known)
			process_set(g, COUNTER_MEM_CURRENT, m->current);
		if (m && m->limit_known)
			process_set(g, COUNTER_MEM_LIMIT, m->limit);
	}
}
