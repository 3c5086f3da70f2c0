// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Memory cgroups of groups: the charge, the limit and what fills it, in v1 and v2. No path leads
 * out of the hierarchy. Grouping the processes finds the cgroups, so only src/query/sums.c maps a
 * unit to its cgroup.
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

/* What of a cgroup is read beyond its charge and its limit. */
enum memcg_parts {
	MEMCG_EVENTS = 1 << 0,
	MEMCG_PARTS = 1 << 1,
};

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

/* Lowers *lowest to the limit in the file, if there is one. */
static int read_limit(int dirfd, const char *name, bool *known, uint64_t *lowest)
{
	uint64_t limit;
	int r = read_number(dirfd, name, &limit);

	if (limit < UNLIMITED && (!*known || limit < *lowest)) {
		*known = true;
		*lowest = limit;
	}
	return r;
}

static bool detail_known(const struct memcg *m, enum counter c)
{
	return m->details & UINT64_C(1) << (c - COUNTER_MEM_HIGH);
}

static void set_detail(struct memcg *m, enum counter c, uint64_t value)
{
	m->details |= UINT64_C(1) << (c - COUNTER_MEM_HIGH);
	m->detail[c - COUNTER_MEM_HIGH] = value;
}

static int read_detail(int dirfd, const char *name, enum counter c, struct memcg *m)
{
	uint64_t value;
	int r = read_number(dirfd, name, &value);

	if (value < UNLIMITED)
		set_detail(m, c, value);
	return r;
}

static int read_detail_limit(int dirfd, const char *name, enum counter c, struct memcg *m)
{
	bool known = detail_known(m, c);
	uint64_t lowest = m->detail[c - COUNTER_MEM_HIGH];
	int r = read_limit(dirfd, name, &known, &lowest);

	if (known)
		set_detail(m, c, lowest);
	return r;
}

/* The number behind a name at the beginning of a line. False: there is none. */
static bool find_number(const char *text, const char *name, uint64_t *ret)
{
	size_t len = strlen(name);
	const char *line = text, *end;

	while (line && strncmp(line, name, len) != 0) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	end = line ? strchr(line, '\n') : NULL;
	return end && parse_u64(line + len, (size_t)(end - line) - len, UINT64_MAX, ret) == 0;
}

/* Returns 0, or a negative errno without files or memory. */
static int read_events(const struct cgroup_mounts *h, int dirfd, struct memcg *m)
{
	char text[1024];
	ssize_t len = file_read(dirfd, h->v2 ? "memory.events" : "memory.oom_control", text,
				sizeof(text));

	if (len > 0)
		m->oom_kills_known = find_number(text, "oom_kill ", &m->oom_kills);
	if (len > 0 && h->v2) {
		m->high_known = find_number(text, "high ", &m->high);
		m->max_known = find_number(text, "max ", &m->max);
		m->oom_known = find_number(text, "oom ", &m->oom);
	}
	if (!h->v2 && !file_exhausted((int)len)) {
		len = read_number(dirfd, "memory.failcnt", &m->max);
		m->max_known = m->max < UNLIMITED;
	}
	return file_exhausted((int)len) ? (int)len : 0;
}

/*
 * Lines of memory.stat that are one counter. "file" and "total_cache" include shared memory and
 * tmpfs. v1 has no slab. Linux: Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/memory.rst.
 */
static void set_stat(const char *text, bool v2, struct memcg *m)
{
	uint64_t anon, file, shmem, slab, unused;

	if (find_number(text, v2 ? "anon " : "total_rss ", &anon))
		set_detail(m, COUNTER_MEM_ANON, anon);
	if (find_number(text, v2 ? "shmem " : "total_shmem ", &shmem)) {
		set_detail(m, COUNTER_MEM_SHMEM, shmem);
		if (find_number(text, v2 ? "file " : "total_cache ", &file))
			set_detail(m, COUNTER_MEM_FILE, file > shmem ? file - shmem : 0);
	}
	if (v2 && find_number(text, "slab ", &slab))
		set_detail(m, COUNTER_MEM_SLAB, slab);
	/* As the kubelet computes it from memory.current: never less than 0. */
	if (m->current_known &&
	    find_number(text, v2 ? "inactive_file " : "total_inactive_file ", &unused))
		set_detail(m, COUNTER_MEM_WORKING_SET,
			   m->current > unused ? m->current - unused : 0);
	if (!v2 && find_number(text, "total_swap ", &unused))
		set_detail(m, COUNTER_MEM_SWAP, unused);
}

/* "some avg10=1.23 avg60=…": hundredths of a percent. */
static bool find_pressure(const char *text, const char *name, uint64_t *ret)
{
	const char *line = strstr(text, name), *whole, *part;
	uint64_t hundreds, hundredths;
	size_t len;

	if (!line || (line != text && line[-1] != '\n'))
		return false;
	whole = line + strlen(name);
	len = strspn(whole, "0123456789");
	part = whole + len + 1;
	if (whole[len] != '.' || strspn(part, "0123456789") != 2 ||
	    parse_u64(whole, len, 1000, &hundreds) < 0 || parse_u64(part, 2, 99, &hundredths) < 0)
		return false;
	*ret = hundreds * 100 + hundredths;
	return true;
}

static int read_pressure(int dirfd, struct memcg *m)
{
	char text[256];
	ssize_t len = file_read(dirfd, "memory.pressure", text, sizeof(text));
	uint64_t share;

	if (len > 0 && find_pressure(text, "some avg10=", &share))
		set_detail(m, COUNTER_PSI_SOME_10, share);
	if (len > 0 && find_pressure(text, "full avg10=", &share))
		set_detail(m, COUNTER_PSI_FULL_10, share);
	return file_exhausted((int)len) ? (int)len : 0;
}

/* Reads memory.stat: what it has of the limit in v1, and the details. */
static int read_stat(const struct cgroup_mounts *h, int dirfd, unsigned parts, struct memcg *m)
{
	char text[8192];
	ssize_t len = file_read(dirfd, "memory.stat", text, sizeof(text));
	uint64_t limit;

	/* The limit that v1 computed, which includes cgroups that we cannot see. */
	if (len > 0 && !h->v2 && find_number(text, "hierarchical_memory_limit ", &limit)) {
		m->limit_known = limit < UNLIMITED;
		m->limit = m->limit_known ? limit : 0;
	}
	if (len > 0 && parts & MEMCG_PARTS)
		set_stat(text, h->v2, m);
	return file_exhausted((int)len) ? (int)len : 0;
}

/* The files of the last directory, beyond memory.stat. v1 has no like of them. */
static int read_details(const struct cgroup_mounts *h, int dirfd, struct memcg *m)
{
	int r = read_events(h, dirfd, m);

	if (r == 0 && m->oom_kills_known)
		set_detail(m, COUNTER_OOM_KILLS, m->oom_kills);
	if (r < 0 || !h->v2)
		return r;
	r = read_detail(dirfd, "memory.swap.current", COUNTER_MEM_SWAP, m);
	if (r == 0)
		r = read_detail(dirfd, "memory.zswap.current", COUNTER_MEM_ZSWAP, m);
	return r < 0 ? r : read_pressure(dirfd, m);
}

/* The limits of a directory on the path. */
static int read_limits(const struct cgroup_mounts *h, int dirfd, unsigned parts, struct memcg *m)
{
	int r = read_limit(dirfd, h->v2 ? "memory.max" : "memory.limit_in_bytes", &m->limit_known,
			   &m->limit);

	if (r < 0 || !h->v2 || !(parts & MEMCG_PARTS))
		return r;
	r = read_detail_limit(dirfd, "memory.high", COUNTER_MEM_HIGH, m);
	return r < 0 ? r : read_detail_limit(dirfd, "memory.swap.max", COUNTER_MEM_SWAP_LIMIT, m);
}

/* The root of v1, which has no charge, is recognised by this file; the root of v2 has no counters.
 */
static bool is_v1_root(int dirfd)
{
	return faccessat(dirfd, "release_agent", F_OK, 0) == 0;
}

/* Reads the limits of a directory on the path, and the values of the last one. */
static int read_cgroup(const struct cgroup_mounts *h, int dirfd, bool last, unsigned parts,
		       struct memcg *m)
{
	int r = read_limits(h, dirfd, parts, m);

	if (r < 0 || !last || (!h->v2 && is_v1_root(dirfd)))
		return r;
	r = read_number(dirfd, h->v2 ? "memory.current" : "memory.usage_in_bytes", &m->current);
	m->current_known = m->current < UNLIMITED;
	if (r == 0 && (!h->v2 || parts & MEMCG_PARTS))
		r = read_stat(h, dirfd, parts, m);
	if (r == 0 && parts & MEMCG_PARTS)
		return read_details(h, dirfd, m);
	return r < 0 || !(parts & MEMCG_EVENTS) ? r : read_events(h, dirfd, m);
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

static int read_path(const struct cgroup_mounts *h, int root, const char *path, unsigned parts,
		     struct memcg *m)
{
	cleanup_close int fd = fcntl(root, F_DUPFD_CLOEXEC, 0);
	int r = fd < 0 ? -errno : read_cgroup(h, fd, !*path, parts, m);

	while (r == 0 && *path) {
		int next = open_component(fd, &path);

		close(TAKE_FD(fd));
		if (next < 0)
			return next;
		fd = next;
		r = read_cgroup(h, fd, !*path, parts, m);
	}
	return r;
}

/* A cgroup that does not exist has no values, not even the limits above it. */
static int read_memcg(const struct cgroup_mounts *h, unsigned parts, struct memcg *m)
{
	for (size_t i = 0; i < h->mounts; i++) {
		const char *below = cgroup_below(h->mount[i].root, m->path);
		struct memcg found = {.path = m->path};
		int r = below ? read_path(h, h->mount[i].fd, below, parts, &found) : -ENOENT;

		if (file_exhausted(r))
			return r;
		/* The root has no charge, and no limit. */
		if (r == 0 && found.current_known) {
			*m = found;
			return 0;
		}
	}
	return 0;
}

/* ---- groups ---- */

static void set_counters(struct process *p, const struct memcg *m)
{
	if (m->current_known)
		process_set(p, COUNTER_MEM_CURRENT, m->current);
	if (m->limit_known)
		process_set(p, COUNTER_MEM_LIMIT, m->limit);
	for (int c = COUNTER_MEM_HIGH; c < COUNTER_COUNT; c++) {
		if (detail_known(m, c))
			process_set(p, c, m->detail[c - COUNTER_MEM_HIGH]);
	}
}

int enrich_memcgs(const struct procfs *proc, struct snapshot *s, struct rows *groups, bool details)
{
	cleanup(arena_release) struct arena_mark mark = arena_mark(&s->scratch);
	cleanup(cgroup_mounts_close) struct cgroup_mounts h = {};
	int r = cgroup_mounts_open(proc, mark.arena, &h);

	for (size_t i = 0; r == 0 && i < groups->count; i++) {
		struct process *p = groups->item[i];
		struct memcg m = {.path = p->cgroup};

		if (!p->controlled || !p->cgroup)
			continue;
		r = read_memcg(&h, details ? MEMCG_PARTS : 0, &m);
		if (r == 0)
			set_counters(p, &m);
	}
	return r;
}

/* ---- all cgroups, units and containers of a snapshot, and the cgroups above them ---- */

static const char *const keys[] = {"unit", "container", "pod", "cgroup"};

struct memcgs {
	struct memcg *item;
	size_t count, capacity;
};

static int compare_path(const void *pa, const void *pb)
{
	const struct memcg *a = pa, *b = pb;

	return strcmp(a->path, b->path);
}

/* Adds a path and those above it, but the root. Copies them into the arena. */
static int add_path(const char *path, struct arena *arena, struct memcgs *m)
{
	size_t len = strlen(path);

	while (len > 1) {
		struct memcg *more = grow_items(m->item, m->count, &m->capacity, 64, sizeof(*more));

		if (!more)
			return -ENOMEM;
		m->item = more;
		m->item[m->count] = (struct memcg){.path = arena_strndup(arena, path, len)};
		if (!m->item[m->count++].path)
			return -ENOMEM;
		while (len && path[--len] != '/')
			;
	}
	return 0;
}

static int add_groups(const char *key, struct rows *rows, struct arena *arena, struct memcgs *m)
{
	cleanup(sums_done) struct sums groups = {};
	int r = group_rows(column_find(key, strlen(key)), rows, &groups);

	for (size_t i = 0; r == 0 && i < groups.rows.count; i++) {
		const struct process *g = groups.rows.item[i];

		if (g->controlled && g->cgroup)
			r = add_path(g->cgroup, arena, m);
	}
	return r;
}

/* Leaves one of those with the same path. */
static void sort_paths(struct memcgs *m)
{
	size_t count = 0;

	if (m->count)
		qsort(m->item, m->count, sizeof(*m->item), compare_path);
	for (size_t i = 0; i < m->count; i++) {
		if (!count || strcmp(m->item[count - 1].path, m->item[i].path) != 0)
			m->item[count++] = m->item[i];
	}
	m->count = count;
}

static int read_memcgs(const struct procfs *proc, struct snapshot *s, struct memcgs *m,
		       unsigned parts)
{
	cleanup(arena_release) struct arena_mark mark = arena_mark(&s->scratch);
	cleanup(cgroup_mounts_close) struct cgroup_mounts h = {};
	int r = cgroup_mounts_open(proc, mark.arena, &h);

	for (size_t i = 0; r == 0 && i < m->count; i++)
		r = read_memcg(&h, parts, &m->item[i]);
	return r;
}

int memcgs_read(const struct procfs *proc, struct snapshot *s, struct rows *rows, bool details)
{
	cleanup_free struct memcg *item = NULL;
	struct memcgs m = {};
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(keys); i++)
		r = add_groups(keys[i], rows, &s->arena, &m);
	item = m.item;
	if (r < 0 || !m.count)
		return r;
	sort_paths(&m);
	r = read_memcgs(proc, s, &m, details ? MEMCG_PARTS : MEMCG_EVENTS);
	if (r < 0)
		return r;
	s->memcg = arena_zalloc(&s->arena, m.count, sizeof(*item));
	if (!s->memcg)
		return -ENOMEM;
	memcpy(s->memcg, m.item, m.count * sizeof(*item));
	s->memcg_count = m.count;
	return 0;
}

void memcgs_apply(const struct snapshot *s, struct rows *groups)
{
	for (size_t i = 0; i < groups->count; i++) {
		struct process *g = groups->item[i];
		const struct memcg *m =
			g->controlled && g->cgroup ? snapshot_find_memcg(s, g->cgroup) : NULL;

		if (m)
			set_counters(g, m);
	}
}
