// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Frees a query, and tells its filter from others. */
#include "query/query.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"
#include "query/pattern.h"

void query_done(struct query *q)
{
	pattern_free(q->filter.pattern);
	free(q->pids);
	free(q->uids);
	free(q->cgroup);
	free(q->units);
	free(q->keys);
	*q = (struct query){};
}

bool query_lists_memcgs(const struct query *q)
{
	const struct filter *f = &q->filter;
	bool charges = q->order.keys.count && q->order.keys.item[0]->needs & NEEDS_MEMCG;

	return q->group && q->group->part == PART_CGROUP && !(q->group->flags & FIELD_JOINED) &&
	       (q->memcgs || charges) && !f->pids && !f->uids && !f->pattern && !f->units &&
	       !f->group.key;
}

uint64_t query_filter_key(const struct query *q)
{
	static const enum query_word filters[] = {QUERY_PID, QUERY_USER, QUERY_FILTER, QUERY_CGROUP,
						  QUERY_UNIT};
	const struct group_id *group = &q->filter.group;
	uint64_t key = 0;

	for (size_t i = 0; i < ARRAY_SIZE(filters); i++)
		key = hash_number(key, q->text_hash[filters[i]]);
	if (group->key) {
		key = hash_number(key, group->uid ^ (uintptr_t)group->key);
		key = hash_text(key, group->text);
		for (size_t i = 0; i < group->keys; i++)
			key = hash_number(key, group->end[i]);
	}
	return key;
}

void query_rows_done(struct query_rows *rows)
{
	sums_done(&rows->sums);
	process_list_done(&rows->matched);
	process_list_done(&rows->shown);
	rows_done(&rows->processes);
	rows->all = (struct rows){};
}
