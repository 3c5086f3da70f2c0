// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Knows the order of the steps; the steps themselves are query's. */
#include "serve/selection.h"

#include "enrich/memcgs.h"

static const char *unit_or_name_of(const struct process *p)
{
	return p->unit ? p->unit : p->name;
}

/* What a group is called where it is by unit, then name. */
static const struct column unit_or_name = {
	.key = "unit",
	.kind = COLUMN_TEXT,
	.needs = NEEDS_CGROUP,
	.text = unit_or_name_of,
};

/* The processes that the filter lets pass. */
static int choose(struct selection *v, struct snapshot *snapshot, const struct filter *filter)
{
	int r;

	*v = (struct selection){.snapshot = *snapshot};
	/* Memory that it takes is the choice's own. */
	v->snapshot.arena = v->snapshot.scratch = (struct arena){};
	v->result.snapshot = &v->snapshot;
	r = rows_select(&v->snapshot, filter, filter_matches, &v->rows);
	if (r == 0)
		r = snapshot_own_mm(&v->snapshot, v->rows.item, v->rows.count);
	if (r < 0)
		return r;
	v->result.pss = rows_pss_source(&v->rows);
	rows_count_filtered(&v->rows, &v->snapshot.collection);
	return 0;
}

static int group(struct selection *v, const struct snapshot *snapshot, const struct column *key)
{
	int r = group_rows(key, &v->rows, &v->sums);

	v->result.group = key;
	if (r == 0)
		memcgs_apply(snapshot, &v->sums.rows);
	return r;
}

static void cut(struct selection *v, const struct rows *rows, size_t shown)
{
	result_cut(&v->result, &v->snapshot.collection, rows, shown, false);
}

int selection_query(struct selection *v, struct snapshot *snapshot, const struct http_query *q)
{
	struct rows *rows = &v->rows;
	int r = choose(v, snapshot, &q->filter);

	if (r == 0 && q->group) {
		r = group(v, snapshot, q->group);
		rows = &v->sums.rows;
	}
	if (r < 0)
		return r;
	if (q->min)
		order_at_least(&q->order, q->min, rows);
	order_rows(&q->order, &v->snapshot, rows);
	cut(v, rows, q->top && q->top < rows->count ? q->top : rows->count);
	return 0;
}

/* A group of processes without a unit is no cgroup, though all of them may be in one. */
static void forget_cgroups(struct rows *groups)
{
	for (size_t i = 0; i < groups->count; i++)
		groups->item[i]->controlled &= groups->item[i]->unit != NULL;
}

int selection_metrics(struct selection *v, struct snapshot *snapshot, const struct column *key,
		      struct group_tracker *tracked, uint64_t now_us)
{
	static const struct filter all = {};
	const struct column *by = key ? key : &unit_or_name, *pss = column_find("pss", 3);
	const struct order order = {.keys = {{pss}, 1}};
	struct rows *groups = &v->sums.rows;
	size_t shown = 0;
	int r = choose(v, snapshot, &all);

	if (r == 0)
		r = group_rows(by, &v->rows, &v->sums);
	if (r < 0)
		return r;
	v->result.group = by;
	if (!key)
		forget_cgroups(groups);
	memcgs_apply(snapshot, groups);
	order_rows(&order, &v->snapshot, groups);
	r = group_tracker_feed(tracked, now_us, by->text, groups, &shown);
	if (r == 0)
		cut(v, groups, shown);
	return r;
}

void selection_done(struct selection *v)
{
	rows_done(&v->rows);
	sums_done(&v->sums);
	arena_done(&v->snapshot.arena);
	arena_done(&v->snapshot.scratch);
	*v = (struct selection){};
}
