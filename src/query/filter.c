// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which processes are wanted. Knows ids and text; refuses to know how they were asked for. */
#include "zmem/query.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static int compare_pid(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int compare_uid(const void *a, const void *b)
{
	const uid_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
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
	/* Without memory of its own, a row of it only answers a question about that very pid. */
	if (!f->pids && p->kind != PROCESS_USER)
		return false;
	if (f->pids && !bsearch(&p->pid, f->pids, f->pid_count, sizeof(*f->pids), compare_pid))
		return false;
	return !f->uids || bsearch(&p->uid, f->uids, f->uid_count, sizeof(*f->uids), compare_uid);
}

/* Matching takes memory: without, nobody knows, and a row must not be missing for that. */
static int matches_text(const regex_t *pattern, const char *text)
{
	int r = text ? regexec(pattern, text, 0, NULL, 0) : REG_NOMATCH;

	if (r == 0)
		return 1;
	return r == REG_NOMATCH ? 0 : -ENOMEM;
}

bool filter_matches_cgroup(const char *glob, const char *path)
{
	char part[4096];
	bool whole = strchr(glob, '/');
	size_t len = strlen(path), start = 0;

	if (len >= sizeof(part)) /* PATH_MAX: the kernel has none that long */
		return false;
	if (strcmp(glob, "/") == 0)
		return true;
	/* "/a", "/a/b", …, or "a", "b", … */
	for (size_t i = 1; i <= len; i++) {
		if (path[i] && path[i] != '/')
			continue;
		memcpy(part, path + start, i - start);
		part[i - start] = '\0';
		if (fnmatch(glob, part + !whole, 0) == 0)
			return true;
		start = whole ? 0 : i;
	}
	return false;
}

int filter_matches(const struct filter *f, const struct process *p)
{
	int r;

	if (!filter_matches_id(f, p))
		return 0;
	if (f->cgroup && (!p->cgroup || !filter_matches_cgroup(f->cgroup, p->cgroup)))
		return 0;
	r = f->pattern ? matches_text(f->pattern, p->name) : 1;
	return r || p->pid == f->self ? r : matches_text(f->pattern, p->cmdline);
}

void rows_done(struct rows *rows)
{
	free(rows->item);
	*rows = (struct rows){0};
}

int rows_reserve(struct rows *rows, size_t count)
{
	/* Room for one at least: malloc(0) may return NULL. */
	size_t capacity = count + count / 4 + 1;
	struct process **item;

	rows->count = 0;
	if (count < rows->capacity)
		return 0;
	item = reallocarray(NULL, capacity, sizeof(*item));
	if (!item)
		return -ENOMEM;
	if (rows->capacity)
		free(rows->item);
	*rows = (struct rows){.item = item, .capacity = capacity};
	return 0;
}

int rows_select(struct snapshot *s, const struct filter *f,
		int (*matches)(const struct filter *, const struct process *), struct rows *rows)
{
	int r = rows_reserve(rows, s->count);

	for (size_t i = 0; r >= 0 && i < s->count; i++) {
		r = matches(f, &s->process[i]);
		if (r > 0)
			rows->item[rows->count++] = &s->process[i];
	}
	return r < 0 ? r : 0;
}

void rows_count_filtered(const struct rows *rows, struct collection *c)
{
	c->filtered = c->seen - c->kernel_threads - c->zombies;
	for (size_t i = 0; i < rows->count; i++)
		c->filtered -= rows->item[i]->kind == PROCESS_USER;
}

enum pss_source rows_pss_source(const struct rows *rows)
{
	enum pss_source source = PSS_FROM_NOTHING;

	for (size_t i = 0; i < rows->count; i++)
		source = pss_source_join(source, rows->item[i]->pss_source);
	return source;
}
