// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The steps of a query (query/query_run.h), and the names that are read between them. */
#include "collect/collect_rows.h"

#include "collect/balance.h"

/* A process that is stuck keeps its executable's name: a better one is not worth a second. */
#define NAMES_DEADLINE_MS 100

static int name_rows(struct collector *c, unsigned needs, struct rows *rows)
{
	int r = 0;

	if (needs & NEEDS_USER)
		enrich_users(c->users, rows);
	if (needs & NEEDS_CGROUP)
		r = enrich_cgroups(c->pool, &c->snapshot, rows);
	if (r == 0 && needs & NEEDS_CMDLINE)
		r = enrich_cmdlines(c->pool, &c->snapshot, rows);
	if (r == 0 && needs & NEEDS_PROGRAM)
		r = enrich_programs(c->pool, &c->snapshot, rows);
	return r;
}

/* What must be known for the query, and for what the collector's user wants of each process. */
static void needs_of(const struct collector *c, const struct query *q, struct query_needs *ret)
{
	query_needs(q, ret);
	if (!q->group && !q->tree)
		ret->shown |= c->spec.names;
	else if (q->tree)
		ret->group |= c->spec.names;
	if (!c->spec.lazy_names)
		ret->filter |= (q->needs | c->spec.names) & NEEDS_CMDLINE;
}

int collector_name_rows(struct collector *c, const struct query *q, struct process **rows,
			size_t count)
{
	struct rows some = {rows, count, 0};

	/* Groups were named with their processes, and names in a tree follow its branches. */
	return q->group || q->tree ? 0 : name_rows(c, q->needs | c->spec.names, &some);
}

/* A recording without command lines: a pattern would match names alone. */
static void note_no_cmdlines(struct collector *c, unsigned needs)
{
	const struct rows *rows = &c->rows.chosen;

	if (!(needs & NEEDS_CMDLINE) || !collector_replays(c) || !rows->count)
		return;
	for (size_t i = 0; i < rows->count; i++) {
		if (rows->item[i]->cmdline)
			return;
	}
	c->notices |= COLLECT_NOTICE_NO_CMDLINES;
}

int collect_choose_rows(struct collector *c, const struct query *query)
{
	struct query own = *query;
	const struct query *q = &own;
	struct query_needs needs;
	int r;

	/* The pattern is on our own command line. */
	own.filter.self = c->self;
	needs_of(c, q, &needs);
	r = query_select_ids(&c->snapshot, q, &c->rows);
	if (r == 0)
		r = name_rows(c, needs.filter, &c->rows.chosen);
	note_no_cmdlines(c, needs.filter);
	if (r == 0)
		r = query_select_text(&c->snapshot, q, &c->rows);
	/* What rows are sorted and grouped by. */
	return r < 0 || q->tree ? r : name_rows(c, needs.group, &c->rows.chosen);
}

int collect_shape_rows(struct collector *c, const struct query *q, struct result *ret)
{
	bool pruned = query_certain(q) && c->spec.pss != PSS_NONE;
	struct query_needs needs;
	struct rows shown;
	int r;

	needs_of(c, q, &needs);
	balance_reconcile(&c->snapshot);
	r = q->tree ? name_rows(c, needs.group, &c->rows.chosen) : 0;
	if (r == 0)
		r = query_group(&c->snapshot, q, &c->rows);
	if (r == 0 && needs.order)
		r = enrich_memcgs(&c->proc, &c->snapshot, &c->rows.made);
	if (r < 0)
		return r;
	query_show(&c->snapshot, q, &c->rows, pruned, ret);
	shown = (struct rows){(struct process **)ret->rows, ret->row_count, 0};
	pool_hurry(c->pool, NAMES_DEADLINE_MS);
	if (q->group)
		r = needs.shown ? enrich_memcgs(&c->proc, &c->snapshot, &shown) : 0;
	else if (!c->spec.lazy_names)
		r = name_rows(c, needs.shown, &shown);
	return r < 0 ? r : enrich_memcgs_keep(&c->proc, &c->rows.chosen);
}
