// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The steps from a snapshot to the result of a query, and the names that each step needs. */
#include "query/result.h"

#include "query/delta_tracker.h"
#include "query/group.h"
#include "query/memcg_rows.h"
#include "query/tree.h"

void rows_count_filtered(const struct process_list *processes, struct collection *c)
{
	c->filtered = c->seen - c->kernel_threads - c->zombies;
	for (size_t i = 0; i < processes->count; i++)
		c->filtered -= processes->item[i]->kind == PROCESS_USER;
}

enum pss_source rows_pss_source(const struct process_list *processes)
{
	enum pss_source source = PSS_FROM_NOTHING;

	for (size_t i = 0; i < processes->count; i++)
		source = pss_source_join(source, processes->item[i]->pss_source);
	return source;
}

void query_needs(const struct query *q, struct query_needs *ret)
{
	unsigned keys = field_list_needs(&q->order.keys);

	*ret = (struct query_needs){.group = keys};
	if (q->filter.pattern)
		ret->filter |= NEEDS_CMDLINE | NEEDS_PROGRAM;
	if (q->filter.cgroup || q->filter.units)
		ret->filter |= NEEDS_CGROUP;
	if (q->filter.group.key)
		ret->filter |= q->filter.group.key->needs;
	if (q->group) {
		/* The processes of a group name it. */
		ret->group |= q->group->needs | q->needs;
		ret->order = keys & NEEDS_CHARGES;
		ret->shown = q->needs & NEEDS_CHARGES;
	} else if (q->tree) {
		/* The tree writes its branches before the names. */
		ret->group |= q->needs;
	} else {
		ret->shown = q->needs;
	}
}

size_t query_certain(const struct query *q)
{
	/* How a row changed is known only once its counters are read. */
	if (q->only_changed || q->only_grown || field_list_changes(&q->order.keys))
		return 0;
	return q->group || q->tree || q->min || q->total ? 0 : q->top;
}

int query_select_ids(struct snapshot *s, const struct query *q, struct query_rows *rows)
{
	return filter_rows(s, &q->filter, filter_matches_id, &rows->matched);
}

int query_select_text(struct snapshot *s, const struct query *q, struct query_rows *rows)
{
	int r = 0;

	if (q->filter.pattern || q->filter.cgroup || q->filter.units || q->filter.group.key)
		r = filter_rows(s, &q->filter, filter_matches, &rows->matched);
	if (r == 0)
		rows_count_filtered(&rows->matched, &s->collection);
	return r;
}

int query_group(struct snapshot *s, const struct query *q, struct query_rows *rows)
{
	int r = snapshot_own_mm(s, rows->matched.item, rows->matched.count);

	rows->all = (struct rows){};
	if (r == 0 && !(q->tree || q->group)) {
		r = rows_of(&rows->processes, rows->matched.item, rows->matched.count);
		rows->all = rows->processes;
		return r;
	}
	if (r < 0)
		return r;
	/* The totals of a tree are those of its processes. */
	if (q->tree)
		r = rows_of(&rows->processes, rows->matched.item, rows->matched.count);
	if (r < 0)
		return r;
	if (q->tree && q->group)
		r = group_tree_rows(q->group, &q->order, q->min, s, &rows->matched, &rows->sums);
	else if (q->tree)
		r = tree_rows(&q->order, q->min, q->folds, s, &rows->matched, &rows->sums);
	else if (query_lists_memcgs(q))
		r = memcg_rows(s, q->filter.cgroup, &rows->matched, &rows->sums);
	else
		r = group_rows(q->group, &rows->matched, &rows->sums);
	rows->all = rows->sums.rows;
	return r;
}

static bool grew(const struct query *q, const struct row *r, uint32_t page_size)
{
	bool steady = q->grown_steady && row_grows_steadily(r, page_size);

	return r->grown > 0 && (steady || (uint64_t)r->grown >= q->grown_min);
}

/* Puts the rows first that only_changed and only_grown show. Returns their number. */
static size_t changed_first(const struct query *q, struct rows *rows, uint32_t page_size)
{
	size_t count = 0;

	if (!q->only_changed && !q->only_grown)
		return rows->count;
	for (size_t i = 0; i < rows->count; i++) {
		struct row row = rows->item[i];

		if ((q->only_changed && !row.changed) ||
		    (q->only_grown && !grew(q, &row, page_size)))
			continue;
		rows->item[i] = rows->item[count];
		rows->item[count++] = row;
	}
	return count;
}

static size_t shown_rows(const struct query *q, size_t count)
{
	if (q->total)
		return 0;
	if (q->top)
		return q->top < count ? q->top : count;
	return q->fit && count > q->fit && !q->tree ? q->fit : count;
}

void result_cut(struct result *r, struct collection *c, const struct rows *rows, size_t shown,
		bool pruned)
{
	r->rows = rows->item;
	r->row_count = shown;
	r->others_count = rows->count - shown;
	totals_sum(rows->item + shown, r->others_count, pruned, &r->others);
	totals_sum(rows->item, rows->count, pruned, &r->totals);
	c->reported = 0;
	for (size_t i = 0; i < shown; i++)
		c->reported += (uint32_t)row_processes(&rows->item[i]);
}

void query_show(struct snapshot *s, const struct query *q, struct query_rows *rows, bool pruned,
		struct result *ret)
{
	struct rows left = rows->all; /* without the rows that --min hides */
	size_t wanted = left.count;

	*ret = (struct result){.snapshot = s,
			       .pss = rows_pss_source(&rows->matched),
			       .group = q->group,
			       .tree = q->tree,
			       .app = q->needs & NEEDS_APP,
			       .memcgs = query_lists_memcgs(q),
			       .delta = q->deltas ? &q->deltas->delta : NULL};
	if (!q->tree) {
		struct rows shown;

		if (q->deltas)
			delta_set_join(q->deltas, q->group, s, &rows->all);
		if (q->min)
			order_at_least(&q->order, q->min, &left);
		wanted = changed_first(q, &left, s->host.page_size);
		shown = (struct rows){left.item, wanted, 0};
		order_rows(&q->order, s, &shown);
	}
	result_cut(ret, &s->collection, &left, shown_rows(q, wanted), pruned);
	/* A row of the tree includes the rows below it. */
	if (q->tree)
		totals_sum(rows->processes.item, rows->processes.count, pruned, &ret->totals);
	/* The processes that were asked for exist, but the kernel does not show them. */
	if (q->filter.pid_count && !rows->matched.count && s->collection.not_seen)
		ret->totals.have = 0;
}
