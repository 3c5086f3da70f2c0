// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Runs the query of a request; memory cgroups come with the snapshot. */
#include "serve/selection.h"

#include "enrich/enrich.h"

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

/* The processes that the filter accepts, in groups if the query has them. */
static int make_rows(struct selection *v, struct snapshot *snapshot, const struct query *q)
{
	int r;

	*v = (struct selection){.snapshot = *snapshot};
	/* Memory that it takes is the selection's own. */
	v->snapshot.arena = v->snapshot.scratch = (struct arena){};
	r = query_select_ids(&v->snapshot, q, &v->rows);
	if (r == 0)
		r = query_select_text(&v->snapshot, q, &v->rows);
	if (r == 0)
		r = query_group(&v->snapshot, q, &v->rows);
	return r;
}

int selection_query(struct selection *v, struct snapshot *snapshot, const struct query *q)
{
	int r = make_rows(v, snapshot, q);

	if (r < 0)
		return r;
	if (q->group)
		memcgs_apply(snapshot, &v->rows.made);
	query_show(&v->snapshot, q, &v->rows, false, &v->result);
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
	const struct column *pss = column_find("pss", 3);
	const struct query query = {.group = key ? key : &unit_or_name,
				    .order = {.keys = {{pss}, 1}}};
	struct rows *groups = &v->rows.made;
	size_t shown = 0;
	int r = make_rows(v, snapshot, &query);

	if (r < 0)
		return r;
	if (!key)
		forget_cgroups(groups);
	memcgs_apply(snapshot, groups);
	query_show(&v->snapshot, &query, &v->rows, false, &v->result);
	r = group_tracker_feed(tracked, now_us, query.group->text, groups, &shown);
	if (r == 0)
		result_cut(&v->result, &v->snapshot.collection, groups, shown, false);
	return r;
}

void selection_done(struct selection *v)
{
	query_rows_done(&v->rows);
	arena_done(&v->snapshot.arena);
	arena_done(&v->snapshot.scratch);
	*v = (struct selection){};
}
