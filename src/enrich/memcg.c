// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What the memory controller says of a cgroup: charge and limit. Knows its files in both versions
 * and how they are put on a tape. Refuses to follow a path out of the hierarchy.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"
#include "base/strbuf.h"
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

/* ---- on a tape: "current limit path" a line ---- */

#define KEY "cgroups/memory"

static void put_number(struct strbuf *out, uint64_t n)
{
	if (n < UNLIMITED)
		strbuf_putu(out, n);
	else
		strbuf_putc(out, '-');
	strbuf_putc(out, ' ');
}

static bool take_number(const char **pos, const char *end, uint64_t *ret)
{
	const char *blank = memchr(*pos, ' ', (size_t)(end - *pos));
	size_t len = blank ? (size_t)(blank - *pos) : 0;

	*ret = UNLIMITED;
	if (!blank || ((len != 1 || **pos != '-') && parse_u64(*pos, len, UNLIMITED - 1, ret) < 0))
		return false;
	*pos = blank + 1;
	return true;
}

/* A path and the values before it. Returns below, above or 0 as the line's path is; 0 sets *ret.
 */
static int compare_line(const char *line, const char *end, const char *path, struct counters *ret)
{
	struct counters f;
	size_t len = strlen(path), n;
	int r;

	if (!take_number(&line, end, &f.current) || !take_number(&line, end, &f.limit))
		return -1;
	n = (size_t)(end - line);
	r = memcmp(line, path, n < len ? n : len);
	if (!r)
		r = (n > len) - (n < len);
	if (!r)
		*ret = f;
	return r;
}

/* The lines are sorted by path. */
static void play_counters(const struct tape_reading *reading, const char *path,
			  struct counters *ret)
{
	const char *low = reading->data, *high = low + reading->len;

	*ret = no_counters;
	while (low < high) {
		const char *line = low + (high - low) / 2, *end;
		int r;

		while (line > low && line[-1] != '\n')
			line--;
		end = memchr(line, '\n', (size_t)(high - line));
		if (!end)
			return;
		r = compare_line(line, end, path, ret);
		if (r == 0)
			return;
		if (r < 0)
			low = end + 1;
		else
			high = line;
	}
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
	struct tape_reading reading = {};
	bool played = tape_playing(proc->tape);
	int r = 0;

	if (!played)
		r = cgroup_mounts_open(proc, mark.arena, &h);
	else if (tape_next(proc->tape, KEY, &reading) == TAPE_NONE || reading.error)
		return 0;
	for (size_t i = 0; r == 0 && i < groups->count; i++) {
		struct process *p = groups->item[i];
		struct counters f;

		if (!p->controlled || !p->cgroup)
			continue;
		if (played)
			play_counters(&reading, p->cgroup, &f);
		else
			r = read_counters(&h, p->cgroup, &f);
		if (r == 0)
			set_counters(p, &f);
	}
	return r;
}

/* A path that a group may be asked for: the beginning of a process's. */
struct prefix {
	const char *s;
	size_t len;
};

static int compare_prefix(const void *pa, const void *pb)
{
	const struct prefix *a = pa, *b = pb;
	int r = memcmp(a->s, b->s, a->len < b->len ? a->len : b->len);

	return r ? r : (a->len > b->len) - (a->len < b->len);
}

/* Those of its cgroup, of its unit and of its container. */
static size_t add_prefixes(const struct process *p, struct prefix *prefix)
{
	size_t len = p->cgroup && p->controlled ? strlen(p->cgroup) : 0, n = 0;
	const size_t end[] = {len, p->unit_path, p->container_path};

	for (size_t i = 0; i < ARRAY_SIZE(end); i++) {
		if (end[i] && end[i] <= len)
			prefix[n++] = (struct prefix){p->cgroup, end[i]};
	}
	return n;
}

static int keep_one(const struct cgroup_mounts *h, const struct prefix *prefix, struct strbuf *out)
{
	cleanup_free char *path = strndup(prefix->s, prefix->len);
	struct counters f;
	int r = path ? read_counters(h, path, &f) : -ENOMEM;

	if (r < 0)
		return r;
	put_number(out, f.current);
	put_number(out, f.limit);
	strbuf_put(out, prefix->s, prefix->len);
	strbuf_putc(out, '\n');
	return 0;
}

int enrich_memcgs_keep(const struct procfs *proc, const struct rows *rows)
{
	cleanup(cgroup_mounts_close) struct cgroup_mounts h = {};
	cleanup(arena_done) struct arena arena = {};
	cleanup(strbuf_done) struct strbuf out = {};
	cleanup_free struct prefix *prefix = NULL;
	size_t count = 0;
	int r;

	if (!tape_recording(proc->tape))
		return 0;
	prefix = calloc(rows->count + 1, 3 * sizeof(*prefix));
	r = prefix ? cgroup_mounts_open(proc, &arena, &h) : -ENOMEM;
	if (r < 0)
		return r;
	for (size_t i = 0; i < rows->count; i++)
		count += add_prefixes(rows->item[i], prefix + count);
	qsort(prefix, count, sizeof(*prefix), compare_prefix);
	for (size_t i = 0; r == 0 && i < count; i++) {
		if (!i || compare_prefix(&prefix[i - 1], &prefix[i]) != 0)
			r = keep_one(&h, &prefix[i], &out);
	}
	if (r == 0)
		r = strbuf_error(&out);
	if (r == 0)
		tape_put(proc->tape, KEY, 0, out.len ? out.data : "", out.len);
	return r;
}
