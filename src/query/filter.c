// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Chooses processes by pid, user, cgroup, unit, name and command line. */
#include "query/filter.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/string_table.h"
#include "query/pattern.h"

static int compare_pid(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;

	return ORDER_OF(*x, *y);
}

static int compare_uid(const void *a, const void *b)
{
	const uid_t *x = a, *y = b;

	return ORDER_OF(*x, *y);
}

void filter_sort_pids(pid_t *pids, size_t count)
{
	qsort(pids, count, sizeof(*pids), compare_pid);
}

void filter_sort_uids(uid_t *uids, size_t count)
{
	qsort(uids, count, sizeof(*uids), compare_uid);
}

int filter_matches_id(const struct filter *f, const struct process *p)
{
	/* A process without memory of its own is a row only if its pid was asked for. */
	if (!f->pids && p->kind != PROCESS_USER)
		return false;
	if (f->pids && !bsearch(&p->pid, f->pids, f->pid_count, sizeof(*f->pids), compare_pid))
		return false;
	if (f->without && p->pid == f->without && !f->pids)
		return false;
	return !f->uids || bsearch(&p->uid, f->uids, f->uid_count, sizeof(*f->uids), compare_uid);
}

/*
 * Matches as fnmatch() does, but a backslash is a byte as any other (systemd writes \x2d for a '-'
 * in a name), and a text always matches itself, whatever bytes it has.
 */
static bool glob_matches(const char *glob, const char *text, int flags)
{
	size_t len = strlen(glob);

	if (strncmp(glob, text, len) == 0 &&
	    (!text[len] || ((flags & FNM_LEADING_DIR) && text[len] == '/')))
		return true;
	return fnmatch(glob, text, FNM_NOESCAPE | flags) == 0;
}

bool filter_matches_cgroup(const char *glob, const char *path)
{
	char part[NAME_MAX + 1];

	if (strcmp(glob, "/") == 0)
		return true;
	/* "/a", "/a/b", … in one go */
	if (strchr(glob, '/'))
		return strlen(path) < PATH_MAX && glob_matches(glob, path, FNM_LEADING_DIR);
	/* "a", "b", … */
	while (*path) {
		const char *name = path + (*path == '/');
		size_t len = strcspn(name, "/");

		path = name + len;
		if (len >= sizeof(part)) /* the kernel has none that long */
			return false;
		memcpy(part, name, len);
		part[len] = '\0';
		if (glob_matches(glob, part, 0))
			return true;
	}
	return false;
}

const char *filter_next_unit(const char **pos, size_t *ret_len)
{
	const char *item = *pos + strspn(*pos, ", \t\n");
	size_t len = strcspn(item, ",\n");

	*pos = item + len;
	while (len && (item[len - 1] == ' ' || item[len - 1] == '\t'))
		len--;
	*ret_len = len;
	return len ? item : NULL;
}

bool filter_matches_unit(const char *globs, const char *unit)
{
	char glob[FILTER_UNIT_MAX + sizeof(".service")];
	const char *item;
	size_t len;

	while ((item = filter_next_unit(&globs, &len))) {
		if (len > FILTER_UNIT_MAX)
			continue;
		memcpy(glob, item, len);
		glob[len] = '\0';
		if (glob_matches(glob, unit, 0))
			return true;
		memcpy(glob + len, ".service", sizeof(".service"));
		if (glob_matches(glob, unit, 0))
			return true;
	}
	return false;
}

/* The paths that were seen, and whether the glob matches each of them. */
struct cgroups_seen {
	struct string_table paths;
	bool *fits;
};

static void seen_done(struct cgroups_seen *seen)
{
	string_table_done(&seen->paths);
	free(seen->fits);
}

static bool seen_matches(struct cgroups_seen *seen, const char *glob, const char *path)
{
	size_t known = seen->paths.count;
	uint32_t number;

	if (string_table_number(&seen->paths, path, &number) < 0)
		return filter_matches_cgroup(glob, path);
	if (number == known)
		seen->fits[number] = filter_matches_cgroup(glob, path);
	return seen->fits[number];
}

static bool in_cgroup(const struct filter *f, const char *path)
{
	if (!path)
		return false;
	return f->seen ? seen_matches(f->seen, f->cgroup, path)
		       : filter_matches_cgroup(f->cgroup, path);
}

static int matches_pattern(const struct filter *f, const struct process *p)
{
	int r;

	if (!f->pattern)
		return 1;
	r = p->name ? pattern_match(f->pattern, p->name) : 0;
	if (r || p->pid == f->self || !p->cmdline)
		return r;
	return pattern_match(f->pattern, p->cmdline);
}

int filter_matches(const struct filter *f, const struct process *p)
{
	if (!filter_matches_id(f, p))
		return 0;
	if (!group_has(&f->group, p) || (f->cgroup && !in_cgroup(f, p->cgroup)))
		return 0;
	if (f->units && !(p->unit && filter_matches_unit(f->units, p->unit)))
		return 0;
	return matches_pattern(f, p);
}

int filter_rows(struct snapshot *s, const struct filter *f,
		int (*matches)(const struct filter *, const struct process *),
		struct process_list *processes)
{
	cleanup(seen_done) struct cgroups_seen seen = {};
	struct filter with = *f;
	int r = process_list_reserve(processes, s->count);

	if (f->cgroup) {
		seen.fits = calloc(s->count + 1, sizeof(*seen.fits));
		with.seen = seen.fits ? &seen : NULL;
	}
	if (f->pattern)
		pattern_begin(f->pattern);
	for (size_t i = 0; r >= 0 && i < s->count; i++) {
		r = matches(&with, &s->process[i]);
		if (r > 0)
			processes->item[processes->count++] = &s->process[i];
	}
	return r < 0 ? r : 0;
}
