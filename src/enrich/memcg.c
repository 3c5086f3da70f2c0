// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Memory cgroups of groups: the charge, the limit and what fills it, in v1 and v2. No path leads
 * out of the hierarchy. Grouping the processes finds the cgroups, so only src/query/group.c maps a
 * unit to its cgroup.
 *
 * Users make cgroups: a path of 4,095 bytes, the longest that /proc/PID/cgroup shows, has 2,047
 * levels. Therefore the cgroups are walked as a tree, in which each is opened once, below its
 * parent; and depth, memory and time have bounds.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/parse.h"
#include "enrich/cgroup_mounts.h"
#include "enrich/enrich.h"
#include "enrich/memcg_rates.h"
#include "model/memcg.h"
#include "proc/cgroup.h"
#include "query/group.h"

/* ---- values of one cgroup ---- */

#define COMPONENT_MAX 256
/* No limit: PAGE_COUNTER_MAX pages, which v1 shows as a number near 2^63. */
#define UNLIMITED ((uint64_t)1 << 62)

/* What is read beyond the charge and the limit of the cgroups that are asked for. */
enum memcg_parts {
	MEMCG_EVENTS = 1 << 0,
	MEMCG_PARTS = 1 << 1,
	MEMCG_ABOVE = 1 << 2,  /* the same of the cgroups above them */
	MEMCG_ALL = 1 << 3,    /* also cgroups that are not asked for */
	MEMCG_HIGH = 1 << 4,   /* of all parts, memory.high alone */
	MEMCG_STALLS = 1 << 5, /* of all parts, memory.pressure alone */
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

static int read_detail_limit(int dirfd, const char *name, enum counter c, struct memcg *m)
{
	bool known = memcg_has(m, c);
	uint64_t lowest = m->detail[c - COUNTER_MEM_HIGH];
	int r = read_limit(dirfd, name, &known, &lowest);

	if (known)
		memcg_set_detail(m, c, lowest);
	return r;
}

/*
 * How often a charge did not fit: below the limit of memory, and below that of memory and swap.
 * The second one is tried first, so it alone counts where both limits are equal.
 */
static int read_hits_of_v1(int dirfd, struct memcg *m)
{
	uint64_t memsw;
	int r = read_number(dirfd, "memory.failcnt", &m->max);

	m->max_known = m->max < UNLIMITED;
	if (r == 0)
		r = read_number(dirfd, "memory.memsw.failcnt", &memsw);
	if (r == 0 && m->max_known && memsw < UNLIMITED)
		m->max += memsw;
	return r;
}

/* Returns 0, or a negative errno without files or memory. */
static int read_events(const struct cgroup_mounts *h, int dirfd, struct memcg *m)
{
	char text[1024];
	ssize_t len = file_read(dirfd, h->v2 ? "memory.events" : "memory.oom_control", text,
				sizeof(text));
	uint64_t under_oom;

	if (len > 0)
		m->oom_kills_known = line_number(text, "oom_kill ", &m->oom_kills);
	if (len > 0 && !h->v2 && line_number(text, "under_oom ", &under_oom))
		memcg_set_detail(m, COUNTER_UNDER_OOM, under_oom);
	if (len > 0 && h->v2) {
		m->high_known = line_number(text, "high ", &m->high);
		m->max_known = line_number(text, "max ", &m->max);
		m->oom_known = line_number(text, "oom ", &m->oom);
	}
	if (!h->v2 && !file_exhausted((int)len))
		len = read_hits_of_v1(dirfd, m);
	return file_exhausted((int)len) ? (int)len : 0;
}

/*
 * Lines of memory.stat that are one counter. "file" and "total_cache" include shared memory and
 * tmpfs. v1 has no slab. Linux: Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/memory.rst.
 */
static void set_stat(const char *text, bool v2, struct memcg *m)
{
	/* v1 has one sum of kernel memory, in another file; v2 has swap in another file. */
	static const struct {
		const char *v2, *v1;
		enum counter counter;
	} line[] = {
		{"anon ", "total_rss ", COUNTER_MEM_ANON},
		{"shmem ", "total_shmem ", COUNTER_MEM_SHMEM},
		{"kernel ", NULL, COUNTER_MEM_KERNEL}, /* since Linux 5.18 (a8c49af3be5f) */
		{"slab ", NULL, COUNTER_MEM_SLAB},
		{"pagetables ", NULL, COUNTER_MEM_PAGETABLES}, /* since Linux 5.11 (f0c0c115fb81) */
		{"percpu ", NULL, COUNTER_MEM_PERCPU},
		{"sock ", NULL, COUNTER_MEM_SOCK},
		{NULL, "total_swap ", COUNTER_MEM_SWAP},
		{"pgsteal ", NULL, COUNTER_RECLAIMED},
	};
	uint64_t value, shmem;

	for (size_t i = 0; i < ARRAY_SIZE(line); i++) {
		const char *name = v2 ? line[i].v2 : line[i].v1;

		if (name && line_number(text, name, &value))
			memcg_set_detail(m, line[i].counter, value);
	}
	if (memcg_has(m, COUNTER_MEM_SHMEM) &&
	    line_number(text, v2 ? "file " : "total_cache ", &value)) {
		shmem = memcg_detail(m, COUNTER_MEM_SHMEM);
		memcg_set_detail(m, COUNTER_MEM_FILE, value > shmem ? value - shmem : 0);
	}
	/* The kubelet computes it so from memory.current: never less than 0. */
	if (m->current_known &&
	    line_number(text, v2 ? "inactive_file " : "total_inactive_file ", &value))
		memcg_set_detail(m, COUNTER_MEM_WORKING_SET,
				 m->current > value ? m->current - value : 0);
}

/* Before Linux 5.9 there was one count, of files: commit 170b04b7ae49. */
static void set_refaults(const char *text, bool v2, struct memcg *m)
{
	static const char *const part[] = {"total_workingset_refault_anon ",
					   "total_workingset_refault_file ",
					   "total_workingset_refault "};
	uint64_t value, sum = 0;
	bool known = false;

	for (size_t i = 0; i < ARRAY_SIZE(part); i++) {
		if (!line_number(text, part[i] + (v2 ? strlen("total_") : 0), &value))
			continue;
		known = true;
		sum += value;
	}
	if (known)
		memcg_set_detail(m, COUNTER_REFAULTS, sum);
}

static int read_pressure(int dirfd, struct memcg *m)
{
	char text[256];
	ssize_t len = file_read(dirfd, "memory.pressure", text, sizeof(text));
	struct memory_pressure pressure;

	if (len > 0 && memory_pressure_parse(text, (size_t)len, &pressure) == 0) {
		memcg_set_detail(m, COUNTER_PSI_SOME_10, pressure.some_avg10);
		memcg_set_detail(m, COUNTER_PSI_FULL_10, pressure.full_avg10);
	}
	return file_exhausted((int)len) ? (int)len : 0;
}

/* Reads memory.stat: what it has of the limit in v1, and the details. */
static int read_stat(const struct cgroup_mounts *h, int dirfd, unsigned parts, struct memcg *m)
{
	char text[8192];
	ssize_t len = file_read(dirfd, "memory.stat", text, sizeof(text));
	uint64_t limit;

	/* The limit that v1 computed, which includes cgroups that we cannot see. */
	if (len > 0 && !h->v2 && line_number(text, "hierarchical_memory_limit ", &limit)) {
		m->limit_known = limit < UNLIMITED;
		m->limit = m->limit_known ? limit : 0;
	}
	if (len > 0 && !h->v2 && line_number(text, "hierarchical_memsw_limit ", &limit) &&
	    limit < UNLIMITED)
		memcg_set_detail(m, COUNTER_MEM_MEMSW_LIMIT, limit);
	if (len > 0 && parts & MEMCG_PARTS) {
		set_stat(text, h->v2, m);
		set_refaults(text, h->v2, m);
	}
	return file_exhausted((int)len) ? (int)len : 0;
}

/* The files of the last directory, beyond memory.stat. v1 has no like of most of them. */
static int read_details(const struct cgroup_mounts *h, int dirfd, struct memcg *m)
{
	static const struct {
		const char *name;
		bool v2;
		enum counter counter;
	} file[] = {{"memory.kmem.usage_in_bytes", false, COUNTER_MEM_KERNEL},
		    {"memory.kmem.tcp.usage_in_bytes", false, COUNTER_MEM_SOCK},
		    {"memory.swap.current", true, COUNTER_MEM_SWAP},
		    {"memory.zswap.current", true, COUNTER_MEM_ZSWAP},
		    {"memory.peak", true, COUNTER_MEM_PEAK}, /* since 5.19 (8e20d4b33266) */
		    {"memory.max_usage_in_bytes", false, COUNTER_MEM_PEAK}};
	int r = read_events(h, dirfd, m);
	uint64_t value;

	if (r == 0 && m->oom_kills_known)
		memcg_set_detail(m, COUNTER_OOM_KILLS, m->oom_kills);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(file); i++) {
		if (file[i].v2 != h->v2)
			continue;
		r = read_number(dirfd, file[i].name, &value);
		if (value < UNLIMITED)
			memcg_set_detail(m, file[i].counter, value);
	}
	return r < 0 || !h->v2 ? r : read_pressure(dirfd, m);
}

/* The limits of a directory on the path. */
static int read_limits(const struct cgroup_mounts *h, int dirfd, unsigned parts, struct memcg *m)
{
	int r = read_limit(dirfd, h->v2 ? "memory.max" : "memory.limit_in_bytes", &m->limit_known,
			   &m->limit);

	if (r < 0 || !(parts & (MEMCG_PARTS | MEMCG_HIGH)))
		return r;
	if (!h->v2)
		return read_detail_limit(dirfd, "memory.memsw.limit_in_bytes",
					 COUNTER_MEM_MEMSW_LIMIT, m);
	r = read_detail_limit(dirfd, "memory.high", COUNTER_MEM_HIGH, m);
	return r < 0 || !(parts & MEMCG_PARTS)
		       ? r
		       : read_detail_limit(dirfd, "memory.swap.max", COUNTER_MEM_SWAP_LIMIT, m);
}

static int read_memsw(int dirfd, struct memcg *m)
{
	uint64_t value;
	int r = read_number(dirfd, "memory.memsw.usage_in_bytes", &value);

	if (value < UNLIMITED)
		memcg_set_detail(m, COUNTER_MEM_MEMSW, value);
	return r;
}

/* This file tells the root of v1, which has no charge; the root of v2 has no counters. */
static bool is_v1_root(int dirfd)
{
	return faccessat(dirfd, "release_agent", F_OK, 0) == 0;
}

/* Reads the values of a directory. The caller has read the limits. */
static int read_values(const struct cgroup_mounts *h, int dirfd, unsigned parts, struct memcg *m)
{
	int r = read_number(dirfd, h->v2 ? "memory.current" : "memory.usage_in_bytes", &m->current);

	m->current_known = m->current < UNLIMITED;
	m->read_us = clock_us(CLOCK_MONOTONIC);
	if (r == 0 && (h->v2 ? parts & MEMCG_PARTS : !(parts & MEMCG_HIGH)))
		r = read_stat(h, dirfd, parts, m);
	if (r == 0 && memcg_has(m, COUNTER_MEM_MEMSW_LIMIT))
		r = read_memsw(dirfd, m);
	if (r == 0 && parts & MEMCG_PARTS)
		return read_details(h, dirfd, m);
	if (r == 0 && parts & MEMCG_EVENTS)
		r = read_events(h, dirfd, m);
	return r < 0 || !h->v2 || !(parts & MEMCG_STALLS) ? r : read_pressure(dirfd, m);
}

/* ---- the cgroups that are asked for ---- */

/* When a cgroup is read, compared with others. */
enum turn {
	TURN_FIRST, /* also without time: the cgroup of an OOM victim */
	TURN_USUAL,
	TURN_DEEP, /* more than DEPTH_USUAL levels: it must not take the time of the others */
};

/* A pod of kind in rootless podman has 11 levels. */
#define DEPTH_USUAL 16

struct wanted {
	const char *path; /* `len` bytes of it: at most MEMCG_DEPTH_MAX levels */
	size_t len;
	enum turn turn;
	bool counts; /* it is counted if it is left out */
	bool read;
	enum memcg_bound left_out; /* why; MEMCG_BOUNDS: it is not */
};

/* The values of the cgroups of 20,000 containers and of their pods. */
#define MEMCG_BYTES_MAX ((size_t)16 << 20)

struct reading {
	unsigned parts;
	uint64_t deadline_us; /* CLOCK_MONOTONIC */
	struct wanted *wanted;
	size_t wanted_count, wanted_capacity;
	/* The cgroups that were read, with paths in the arena. */
	struct arena *arena;
	struct memcg *item;
	size_t count, capacity;
	struct memcg_rates *rates; /* NULL: none are asked for */
	size_t bytes;		   /* of item and of the paths */
	size_t found;		   /* likewise of those that MEMCG_ALL found */
	uint32_t left_out[MEMCG_BOUNDS];
	uint64_t dying;
};

static void reading_done(struct reading *r)
{
	free(r->wanted);
	free(r->item);
}

/*
 * Asks for the cgroup of the first `len` bytes of a path, which the caller keeps; of one that is
 * too deep, for the nearest one above it.
 */
static int add_wanted(struct reading *r, const char *path, size_t len, bool first, bool counts)
{
	const struct wanted *last = r->wanted_count ? &r->wanted[r->wanted_count - 1] : NULL;
	size_t reach = memcg_reach(path, MEMCG_DEPTH_MAX);

	if (r->parts & MEMCG_ABOVE && len <= 1)
		return 0;
	if (len > reach) {
		r->left_out[MEMCG_BOUND_DEPTH] += counts;
		counts = false;
		len = reach;
	}
	/* Many that are too deep have the same one above them. */
	if (!counts && last && last->len == len && memcmp(last->path, path, len) == 0)
		return 0;
	if (!array_room(&r->wanted, r->wanted_count, &r->wanted_capacity, 64))
		return -ENOMEM;
	r->wanted[r->wanted_count++] = (struct wanted){
		.path = path,
		.len = len,
		.turn = first				       ? TURN_FIRST
			: len > memcg_reach(path, DEPTH_USUAL) ? TURN_DEEP
							       : TURN_USUAL,
		.counts = counts,
		.left_out = MEMCG_BOUNDS,
	};
	return 0;
}

/* The number of bytes in which both begin alike. */
static size_t common_len(const char *a, const char *b, size_t most)
{
	size_t n = 0;

	while (n + 8 <= most && memcmp(a + n, b + n, 8) == 0)
		n += 8;
	while (n < most && a[n] == b[n])
		n++;
	return n;
}

/* The end of a path is less than '/', which is less than any other byte. */
static int tree_rank(const struct wanted *w, size_t i)
{
	if (i == w->len)
		return 0;
	return w->path[i] == '/' ? 1 : 2 + (unsigned char)w->path[i];
}

/* By turn; then each cgroup is followed by those below it. */
static int compare_wanted(const void *pa, const void *pb)
{
	const struct wanted *a = pa, *b = pb;
	size_t n;

	if (a->turn != b->turn)
		return ORDER_OF(a->turn, b->turn);
	n = common_len(a->path, b->path, a->len < b->len ? a->len : b->len);
	return tree_rank(a, n) - tree_rank(b, n);
}

/* Leaves one of those with the same path. */
static void sort_wanted(struct reading *r)
{
	size_t count = 0;

	if (r->wanted_count)
		qsort(r->wanted, r->wanted_count, sizeof(*r->wanted), compare_wanted);
	for (size_t i = 0; i < r->wanted_count; i++) {
		if (count && compare_wanted(&r->wanted[count - 1], &r->wanted[i]) == 0)
			r->wanted[count - 1].counts |= r->wanted[i].counts;
		else
			r->wanted[count++] = r->wanted[i];
	}
	r->wanted_count = count;
}

/* Adds the cgroup of the first `len` bytes of the path. */
static int add_memcg(struct reading *r, const char *path, size_t len, const struct memcg *m)
{
	const char *copy = arena_strndup(r->arena, path, len);

	if (!copy || !array_room(&r->item, r->count, &r->capacity, 64))
		return -ENOMEM;
	r->item[r->count] = *m;
	r->item[r->count++].path = copy;
	r->bytes += sizeof(*m) + len + 1;
	return 0;
}

/* ---- the walk below a mount ---- */

struct level {
	int fd;		       /* O_PATH */
	size_t end;	       /* of its path: 0 of the root */
	struct memcg limits;   /* the lowest of it and of those above it */
	bool read, has_charge; /* its values were read, and are known */
};

struct walk {
	struct reading *reading;
	const struct cgroup_mounts *mounts;
	const char *root; /* of the mount */
	const char *path; /* of the lowest level; `len` bytes of it */
	size_t len;
	struct level level[MEMCG_DEPTH_MAX + 1];
	size_t levels; /* the first one is the mount's, which the caller closes */
};

static void leave_level(struct walk *w)
{
	if (--w->levels)
		close(w->level[w->levels].fd);
}

static void walk_done(struct walk *w)
{
	while (w->levels)
		leave_level(w);
}

/* Reads the lowest level, once. */
static int read_level(struct walk *w)
{
	struct level *l = &w->level[w->levels - 1];
	struct memcg m = l->limits;
	int r;

	/* The root has no charge, and no limit. */
	if (l->read || (w->levels == 1 && !w->mounts->v2 && is_v1_root(l->fd)))
		return 0;
	/* Where limits are looked for, nothing else of it is asked for. */
	if (w->reading->parts & MEMCG_HIGH && !m.limit_known && !memcg_has(&m, COUNTER_MEM_HIGH))
		return 0;
	r = read_values(w->mounts, l->fd, w->reading->parts, &m);
	if (r < 0)
		return r;
	l->read = true;
	l->has_charge = m.current_known;
	return l->has_charge ? add_memcg(w->reading, w->path, l->end ? l->end : 1, &m) : 0;
}

/* Adds a level. Owns the fd unless it is that of the mount. */
static int enter(struct walk *w, int fd, size_t end)
{
	struct level *l = &w->level[w->levels++];
	unsigned parts = w->reading->parts;
	int r;

	*l = (struct level){.fd = fd, .end = end};
	if (w->levels > 1)
		l->limits = l[-1].limits;
	r = read_limits(w->mounts, fd, parts, &l->limits);
	return r < 0 || !(parts & MEMCG_ABOVE) ? r : read_level(w);
}

/* Opens a directory. Returns an fd or a negative errno. */
static int open_component(int dirfd, const char *component, size_t len)
{
	char name[COMPONENT_MAX];
	int fd;

	if (len >= sizeof(name))
		return -ENOENT;
	memcpy(name, component, len);
	name[len] = '\0';
	/* cgroup_below() refused "..". */
	fd = openat(dirfd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Opens the levels that are missing. */
static int go_down(struct walk *w)
{
	int r = 0;

	while (r == 0) {
		const struct level *l = &w->level[w->levels - 1];
		size_t begin = l->end, end;
		int fd;

		while (begin < w->len && w->path[begin] == '/')
			begin++;
		for (end = begin; end < w->len && w->path[end] != '/';)
			end++;
		if (begin == end)
			return 0;
		fd = open_component(l->fd, w->path + begin, end - begin);
		r = fd < 0 ? fd : enter(w, fd, end);
	}
	return r;
}

/*
 * Goes to the cgroup; what it has in common with the last one stays open. Returns 0 or a negative
 * errno: -ENOENT if it is not below the mount, or gone.
 */
static int walk_to(struct walk *w, int root, const struct wanted *t)
{
	size_t common = common_len(w->path, t->path, w->len < t->len ? w->len : t->len);
	size_t top = strlen(w->root);

	while (top && w->root[top - 1] == '/')
		top--;
	if (!cgroup_below(w->root, t->path) || t->len < top)
		return -ENOENT;
	while (w->levels > 1) {
		size_t end = w->level[w->levels - 1].end;

		if (end <= common && (end == t->len || t->path[end] == '/'))
			break;
		leave_level(w);
	}
	w->path = t->path;
	w->len = t->len;
	if (!w->levels) {
		int r = enter(w, root, top);

		if (r < 0)
			return r;
	}
	return go_down(w);
}

/* The bound that is reached, or MEMCG_BOUNDS. */
static enum memcg_bound bound_of(const struct reading *r, const struct wanted *t)
{
	if (t->turn == TURN_FIRST)
		return MEMCG_BOUNDS;
	if (r->bytes > MEMCG_BYTES_MAX)
		return MEMCG_BOUND_BYTES;
	return clock_us(CLOCK_MONOTONIC) < r->deadline_us ? MEMCG_BOUNDS : MEMCG_BOUND_TIME;
}

static int read_below(struct reading *r, const struct cgroup_mounts *h, size_t mount)
{
	cleanup(walk_done) struct walk w = {
		.reading = r, .mounts = h, .root = h->mount[mount].root, .path = ""};
	int error = 0;

	for (size_t i = 0; error == 0 && i < r->wanted_count; i++) {
		struct wanted *t = &r->wanted[i];

		if (t->read)
			continue;
		t->left_out = bound_of(r, t);
		if (t->left_out != MEMCG_BOUNDS)
			continue;
		error = walk_to(&w, h->mount[mount].fd, t);
		if (error == 0)
			error = read_level(&w);
		if (error == 0)
			t->read = w.level[w.levels - 1].has_charge;
		else if (!file_exhausted(error))
			error = 0;
	}
	return error;
}

/* A cgroup that does not exist has no values, not even the limits above it. */
static int add_absent(struct reading *r)
{
	static const struct memcg absent;
	int error = 0;

	for (size_t i = 0; error == 0 && i < r->wanted_count; i++) {
		struct wanted *t = &r->wanted[i];

		if (t->read || t->left_out != MEMCG_BOUNDS)
			continue;
		if (r->bytes > MEMCG_BYTES_MAX)
			t->left_out = MEMCG_BOUND_BYTES;
		else
			error = add_memcg(r, t->path, t->len, &absent);
	}
	return error;
}

/* By path; one with values is first. */
static int compare_path(const void *pa, const void *pb)
{
	const struct memcg *a = pa, *b = pb;
	int r = strcmp(a->path, b->path);

	return r ? r : b->current_known - a->current_known;
}

/* Leaves one of those with the same path: those above a deep cgroup may have been read before. */
static void sort_memcgs(struct reading *r)
{
	size_t count = 0;

	if (r->count)
		qsort(r->item, r->count, sizeof(*r->item), compare_path);
	for (size_t i = 0; i < r->count; i++) {
		if (!count || strcmp(r->item[count - 1].path, r->item[i].path) != 0)
			r->item[count++] = r->item[i];
	}
	r->count = count;
}

/* A cgroup that was left out may have been read as one above another. */
static void count_left_out(struct reading *r)
{
	for (size_t i = 0; i < r->wanted_count; i++) {
		const struct wanted *t = &r->wanted[i];

		if (t->counts && t->left_out != MEMCG_BOUNDS &&
		    !memcg_find(r->item, r->count, (struct text_part){t->path, t->len}))
			r->left_out[t->left_out]++;
	}
}

/* Deleted cgroups of a hierarchy of v2 that are kept, most of them for the memory they hold. */
static uint64_t read_dying(const struct cgroup_mounts *h)
{
	char text[256];
	uint64_t count = 0;

	if (h->v2 && h->mounts && file_read(h->mount[0].fd, "cgroup.stat", text, sizeof(text)) > 0)
		line_number(text, "nr_dying_descendants ", &count);
	return count;
}

/* ---- all cgroups below the mounts ---- */

/* Asks for the cgroups in a directory. Closes the fd. */
static int want_below(struct reading *r, struct arena *scratch, int fd, const char *path)
{
	cleanup_closedir DIR *dir = fdopendir(fd);
	const struct dirent *e;
	int error = 0;

	if (!dir) {
		close(fd);
		return -ENOMEM;
	}
	/* How many are left out is not known: at least one. */
	while (error == 0 && r->found <= MEMCG_BYTES_MAX && (e = readdir(dir))) {
		size_t len = strlen(path) + 1 + strlen(e->d_name);
		char *child;

		if (e->d_type != DT_DIR || *e->d_name == '.')
			continue;
		child = arena_alloc(scratch, len + 1);
		if (!child)
			return -ENOMEM;
		stpcpy(stpcpy(stpcpy(child, path), "/"), e->d_name);
		if (memcg_reach(child, MEMCG_DEPTH_MAX) < len)
			r->left_out[MEMCG_BOUND_DEPTH]++;
		else
			error = add_wanted(r, child, len, false, true);
		r->found += sizeof(struct memcg) + len + 1;
		r->left_out[MEMCG_BOUND_BYTES] += r->found > MEMCG_BYTES_MAX;
	}
	return error;
}

/* Asks for all cgroups of a mount: each that was asked for is looked into. */
static int want_all(struct reading *r, struct arena *scratch, const struct cgroup_mounts *h,
		    size_t mount)
{
	const char *root = h->mount[mount].root;
	size_t next = r->wanted_count;
	int error = 0, fd;

	fd = openat(h->mount[mount].fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		error = want_below(r, scratch, fd, strcmp(root, "/") == 0 ? "" : root);
	for (; error == 0 && next < r->wanted_count; next++) {
		const char *path = r->wanted[next].path;

		/* After the deadline, the others are left out, and counted. */
		if (clock_us(CLOCK_MONOTONIC) > r->deadline_us)
			break;
		fd = openat(h->mount[mount].fd, cgroup_below(root, path),
			    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd >= 0)
			error = want_below(r, scratch, fd, path);
		else if (file_exhausted(-errno))
			error = -errno;
	}
	return error;
}

/* Reads all that was asked for. *left_us: the time that it may take; reduced by what it took. */
static int read_wanted(struct reading *r, const struct procfs *proc, struct arena *scratch,
		       uint64_t *left_us)
{
	cleanup(cgroup_mounts_close) struct cgroup_mounts h = {};
	uint64_t start = clock_us(CLOCK_MONOTONIC), used_us;
	int error = cgroup_mounts_open(proc, scratch, &h);

	r->deadline_us = start + *left_us;
	r->dying = read_dying(&h);
	for (size_t i = 0; error == 0 && r->parts & MEMCG_ALL && i < h.mounts; i++)
		error = want_all(r, scratch, &h, i);
	sort_wanted(r);
	for (size_t i = 0; error == 0 && i < h.mounts; i++)
		error = read_below(r, &h, i);
	if (error == 0)
		error = add_absent(r);
	if (error < 0)
		return error;
	sort_memcgs(r);
	if (r->rates && r->parts & MEMCG_PARTS &&
	    memcg_rates_update(r->rates, r->item, r->count) < 0)
		return -ENOMEM;
	count_left_out(r);
	used_us = clock_us(CLOCK_MONOTONIC) - start;
	*left_us -= used_us < *left_us ? used_us : *left_us;
	return 0;
}

/* ---- groups ---- */

/*
 * Finds the cgroup or, if some were left out, the nearest one above it that was read. Sets
 * *ret_above to the length of the path of the latter; 0: it is the cgroup itself.
 */
static const struct memcg *find_nearest(const struct memcg *item, size_t count, const char *path,
					bool left_out, uint16_t *ret_above)
{
	size_t reach = memcg_reach(path, MEMCG_DEPTH_MAX);
	struct text_part part = part_of(path);
	const struct memcg *m = memcg_find(item, count, part);

	*ret_above = 0;
	if (m || !left_out)
		return m;
	/* None is deeper. */
	part.len = part.len < reach + 1 ? part.len : reach + 1;
	while (!m && part.len) {
		part.len--;
		if (part.s[part.len] == '/' && part.len <= UINT16_MAX)
			m = memcg_find(item, count, part);
	}
	*ret_above = m && m->current_known ? (uint16_t)part.len : 0;
	return m;
}

static void set_nearest(struct process *p, const struct memcg *item, size_t count,
			const struct memcg *m, uint32_t page_size)
{
	struct memcg_limit nearest;

	if (!memcg_nearest(item, count, m, page_size, &nearest))
		return;
	process_set(p, COUNTER_NEAREST_LIMIT, nearest.limit);
	process_set(p, COUNTER_MEM_LEFT, nearest.left);
	process_set(p, COUNTER_LIMIT_UP, nearest.up);
}

/* `above`: the cgroups above are among the items. */
static void set_limits(const struct memcg *item, size_t count, bool left_out, bool above,
		       uint32_t page_size, struct process_list *groups)
{
	for (size_t i = 0; i < groups->count; i++) {
		struct process *g = groups->item[i];
		const struct memcg *m = NULL;

		g->memcg_above = 0;
		if (g->controlled && g->cgroup)
			m = find_nearest(item, count, g->cgroup, left_out, &g->memcg_above);
		if (!m || !g->charged)
			continue;
		memcg_charges(m, g->charged);
		if (above && !g->memcg_above)
			set_nearest(g, item, count, m, page_size);
	}
}

int enrich_memcgs(const struct procfs *proc, struct snapshot *s, struct process_list *groups,
		  bool details, struct memcg_rates *rates, uint64_t *left_us)
{
	cleanup(arena_release) struct arena_mark mark = arena_mark(&s->scratch);
	cleanup(reading_done) struct reading reading = {.arena = mark.arena,
							.parts = details ? MEMCG_PARTS | MEMCG_ABOVE
									 : 0,
							.rates = rates};
	uint32_t *left_out = s->collection.cgroups_left_out;
	int r = 0;

	for (size_t i = 0; r == 0 && i < groups->count; i++) {
		const struct process *p = groups->item[i];

		if (p->controlled && p->cgroup)
			r = add_wanted(&reading, p->cgroup, strlen(p->cgroup), false, true);
	}
	if (r == 0)
		r = read_wanted(&reading, proc, mark.arena, left_us);
	if (r < 0)
		return r;
	/* A snapshot may read some groups twice: those that are shown, with more values. */
	for (int b = 0; b < MEMCG_BOUNDS; b++) {
		if (left_out[b] < reading.left_out[b])
			left_out[b] = reading.left_out[b];
	}
	s->collection.cgroups_dying = reading.dying;
	set_limits(reading.item, reading.count, memcgs_left_out(&s->collection), details,
		   s->host.page_size, groups);
	return 0;
}

/* ---- all cgroups, units and containers of a snapshot, and the cgroups above them ---- */

/* The last one has all cgroups with processes. */
static const char *const keys[] = {"unit", "container", "pod", "cgroup"};

/* The path of a group is the beginning of that of each of its processes, which stays. */
static int want_groups(struct reading *reading, const char *key, bool counts,
		       struct process_list *processes)
{
	cleanup(sums_done) struct sums groups = {};
	int r = group_rows(process_field(key), processes, &groups);

	for (size_t i = 0, at = 0; r == 0 && i < groups.rows.count; i++) {
		const struct process *g = groups.rows.item[i].process;

		/* The processes are now in the order of the groups. */
		if (g->controlled && g->cgroup)
			r = add_wanted(reading, processes->item[at]->cgroup, strlen(g->cgroup),
				       false, counts);
		at += groups.rows.item[i].procs;
	}
	return r;
}

static bool same_cgroup(const struct process *a, const struct process *b)
{
	if (a->controlled != b->controlled || !a->cgroup || !b->cgroup)
		return a->controlled == b->controlled && a->cgroup == b->cgroup;
	return a->cgroup == b->cgroup || strcmp(a->cgroup, b->cgroup) == 0;
}

/*
 * At least one process of each cgroup, which stands for all of them: unit, container and pod are
 * parts of its path. Processes of a cgroup mostly follow each other; where they do not,
 * want_groups() has several of one cgroup.
 */
static int list_cgroups(const struct process_list *processes, struct process_list *ret)
{
	struct process *last = NULL;
	int r = process_list_reserve(ret, processes->count);

	for (size_t i = 0; r == 0 && i < processes->count; i++) {
		struct process *p = processes->item[i];

		if (!last || !same_cgroup(last, p))
			ret->item[ret->count++] = p;
		last = p;
	}
	return r;
}

int memcgs_read(const struct procfs *proc, struct snapshot *s, struct process_list *processes,
		enum memcgs_asked asked, const char *first, struct memcg_rates *rates,
		uint64_t *left_us)
{
	static const unsigned parts[] = {[MEMCGS_LIMITS] = MEMCG_HIGH,
					 [MEMCGS_FIGURES] = MEMCG_EVENTS,
					 [MEMCGS_STALLS] = MEMCG_EVENTS | MEMCG_STALLS,
					 [MEMCGS_DETAILS] = MEMCG_PARTS,
					 [MEMCGS_ALL] = MEMCG_PARTS | MEMCG_ALL};
	cleanup(arena_release) struct arena_mark mark = arena_mark(&s->scratch);
	cleanup(reading_done) struct reading reading = {
		.arena = &s->arena,
		.parts = MEMCG_ABOVE | parts[asked],
		.rates = rates,
	};
	cleanup(process_list_done) struct process_list one = {};
	int r = first ? add_wanted(&reading, first, strlen(first), true, false) : 0;

	if (r == 0)
		r = list_cgroups(processes, &one);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(keys); i++)
		r = want_groups(&reading, keys[i], i + 1 == ARRAY_SIZE(keys), &one);
	if (r == 0)
		r = read_wanted(&reading, proc, mark.arena, left_us);
	if (r < 0)
		return r;
	s->collection.cgroups_dying = reading.dying;
	memcpy(s->collection.cgroups_left_out, reading.left_out, sizeof(reading.left_out));
	if (!reading.count)
		return 0;
	s->memcg = arena_zalloc(&s->arena, reading.count, sizeof(*s->memcg));
	if (!s->memcg)
		return -ENOMEM;
	memcpy(s->memcg, reading.item, reading.count * sizeof(*s->memcg));
	s->memcg_count = reading.count;
	return 0;
}

static bool is_near(const struct snapshot *s, const struct memcg *m)
{
	(void)s;
	return memcg_is_near(m);
}

/* Whether it is at a limit at which it was before. */
static bool is_at_limit(const struct memcg *m)
{
	return memcg_is_near(m) &&
	       ((m->max_known && m->max && m->limit_known) || (m->high_known && m->high));
}

/* Whether the cgroup or one above it is. */
static bool is_held(const struct snapshot *s, const struct memcg *m)
{
	struct text_part path = part_of(m->path);

	while (m && !is_at_limit(m)) {
		do
			path.len--;
		while (path.len && path.s[path.len] != '/');
		m = path.len ? memcg_find(s->memcg, s->memcg_count, path) : NULL;
	}
	return m;
}

bool memcgs_are_held(const struct snapshot *s)
{
	for (size_t i = 0; i < s->memcg_count; i++) {
		if (is_at_limit(&s->memcg[i]))
			return true;
	}
	return false;
}

static int read_some(const struct procfs *proc, struct snapshot *s,
		     bool (*wanted)(const struct snapshot *s, const struct memcg *m),
		     struct memcg_rates *rates, uint64_t *left_us)
{
	cleanup(arena_release) struct arena_mark mark = arena_mark(&s->scratch);
	cleanup(reading_done) struct reading reading = {
		.arena = mark.arena, .parts = MEMCG_PARTS, .rates = rates};
	int r = 0;

	for (size_t i = 0; r == 0 && i < s->memcg_count; i++) {
		const char *path = s->memcg[i].path;

		if (wanted(s, &s->memcg[i]))
			r = add_wanted(&reading, path, strlen(path), false, false);
	}
	if (r < 0 || !reading.wanted_count)
		return r;
	r = read_wanted(&reading, proc, mark.arena, left_us);
	for (size_t i = 0; r == 0 && i < reading.count; i++) {
		const struct memcg *now = &reading.item[i];
		struct memcg *m =
			(struct memcg *)memcg_find(s->memcg, s->memcg_count, part_of(now->path));
		const char *path = m ? m->path : NULL;

		if (!m || !now->current_known)
			continue;
		*m = *now;
		m->path = path;
	}
	return r;
}

int memcgs_read_near(const struct procfs *proc, struct snapshot *s, struct memcg_rates *rates,
		     uint64_t *left_us)
{
	return read_some(proc, s, is_near, rates, left_us);
}

int memcgs_read_held(const struct procfs *proc, struct snapshot *s, struct memcg_rates *rates,
		     uint64_t *left_us)
{
	return read_some(proc, s, is_held, rates, left_us);
}

bool memcgs_are_v1(const struct procfs *proc)
{
	cleanup(arena_done) struct arena arena = {};
	cleanup(cgroup_mounts_close) struct cgroup_mounts h = {};

	return cgroup_mounts_open(proc, &arena, &h) == 0 && h.mounts && !h.v2;
}

int memcg_read(const struct procfs *proc, struct snapshot *scratch, const char *path,
	       struct memcg *ret)
{
	cleanup(arena_release) struct arena_mark mark = arena_mark(&scratch->scratch);
	cleanup(reading_done) struct reading reading = {.arena = mark.arena, .parts = MEMCG_PARTS};
	uint64_t left_us = UINT32_MAX;
	int r = add_wanted(&reading, path, strlen(path), true, false);

	*ret = (struct memcg){};
	if (r == 0)
		r = read_wanted(&reading, proc, mark.arena, &left_us);
	if (r == 0 && reading.count == 1)
		*ret = reading.item[0];
	ret->path = NULL;
	return r;
}

void memcgs_apply(const struct snapshot *s, struct process_list *groups)
{
	set_limits(s->memcg, s->memcg_count, memcgs_left_out(&s->collection), true,
		   s->host.page_size, groups);
}
