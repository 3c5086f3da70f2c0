// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reads the memory cgroups of all groups. Grouping the processes finds them, so only
 * src/query/sums.c maps a unit to its cgroup.
 */
#include "enrich/memcgs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "enrich/enrich.h"

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
