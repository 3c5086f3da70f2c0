// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Which cgroups there may be a group of is found by making the groups, so that one place alone
 * (src/query/group.c) knows what the cgroup of a unit is.
 */
#include "serve/controllers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"

static const char *const keys[] = {"unit", "container", "cgroup"};

static int compare_path(const void *pa, const void *pb)
{
	const struct controller *a = pa, *b = pb;

	return strcmp(a->path, b->path);
}

/* Their paths are the snapshot's from then on. */
static int add(const struct rows *groups, struct arena *text, struct shot *shot)
{
	for (size_t i = 0; i < groups->count; i++) {
		const struct process *g = groups->item[i];
		const char *path;

		if (!g->controlled || !g->cgroup)
			continue;
		path = arena_strndup(text, g->cgroup, strlen(g->cgroup));
		if (!path)
			return -ENOMEM;
		shot->controller[shot->controller_count++] = (struct controller){
			.path = path,
			.have = g->have &
				(COUNTER_BIT(COUNTER_MEM_CURRENT) | COUNTER_BIT(COUNTER_MEM_LIMIT)),
			.current = g->value[COUNTER_MEM_CURRENT],
			.limit = g->value[COUNTER_MEM_LIMIT],
		};
	}
	return 0;
}

static int add_groups(struct session *s, const char *key, struct shot *shot)
{
	cleanup(sums_done) struct sums groups = {};
	struct controller *more;
	int r = group_rows(column_find(key, strlen(key)), &s->rows, &groups);

	if (r == 0)
		r = enrich_controllers(&s->proc, &s->snapshot, &groups.rows);
	if (r < 0)
		return r;
	more = reallocarray(shot->controller, shot->controller_count + groups.rows.count + 1,
			    sizeof(*more));
	if (!more)
		return -ENOMEM;
	shot->controller = more;
	return add(&groups.rows, &s->snapshot.arena, shot);
}

int controllers_read(struct session *s, struct shot *shot)
{
	size_t to = 0;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		int r = add_groups(s, keys[i], shot);

		if (r < 0)
			return r;
	}
	if (!shot->controller_count)
		return 0;
	qsort(shot->controller, shot->controller_count, sizeof(*shot->controller), compare_path);
	/* A unit may be a cgroup as well. */
	for (size_t i = 1; i < shot->controller_count; i++) {
		if (strcmp(shot->controller[to].path, shot->controller[i].path) != 0)
			shot->controller[++to] = shot->controller[i];
	}
	shot->controller_count = to + 1;
	return 0;
}

void controllers_apply(const struct shot *shot, struct rows *groups)
{
	for (size_t i = 0; i < groups->count; i++) {
		struct process *g = groups->item[i];
		const struct controller key = {.path = g->cgroup}, *c;

		if (!g->controlled || !g->cgroup || !shot->controller_count)
			continue;
		c = bsearch(&key, shot->controller, shot->controller_count, sizeof(key),
			    compare_path);
		if (c && c->have & COUNTER_BIT(COUNTER_MEM_CURRENT))
			process_set(g, COUNTER_MEM_CURRENT, c->current);
		if (c && c->have & COUNTER_BIT(COUNTER_MEM_LIMIT))
			process_set(g, COUNTER_MEM_LIMIT, c->limit);
	}
}
