// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Chooses among the trackers of earlier rows. */
#include "query/delta_set.h"

#include "query/query_parse.h"

static bool is_first(enum delta_kind kind)
{
	return kind == DELTA_PROCESSES_FIRST || kind == DELTA_GROUPS_FIRST;
}

static void renew(struct delta_set *set, enum delta_kind kind)
{
	uint64_t seed = set->tracker[kind].seed;

	delta_tracker_done(&set->tracker[kind]);
	delta_tracker_init(&set->tracker[kind], seed, is_first(kind));
}

void delta_set_init(struct delta_set *set, uint64_t seed, bool all)
{
	*set = (struct delta_set){.all = all};
	for (int i = 0; i < DELTA_KINDS; i++)
		delta_tracker_init(&set->tracker[i], seed, is_first(i));
}

void delta_set_done(struct delta_set *set)
{
	for (int i = 0; i < DELTA_KINDS; i++)
		delta_tracker_done(&set->tracker[i]);
}

void delta_set_forget_last(struct delta_set *set)
{
	renew(set, DELTA_PROCESSES);
	renew(set, DELTA_GROUPS);
}

void delta_set_begin(struct delta_set *set, const struct query *q, bool from_start)
{
	const struct tracker *tracker;
	uint64_t tick = set->delta.tick;

	if (set->group != q->group) {
		renew(set, DELTA_GROUPS);
		renew(set, DELTA_GROUPS_FIRST);
		set->group = q->group;
	}
	set->now = q->group ? DELTA_GROUPS : DELTA_PROCESSES;
	set->now += from_start;
	set->joined = false;
	tracker = &set->tracker[set->now];
	set->delta = (struct delta){
		.known = tracker->taken,
		.from_start = tracker->from_start,
		.since_ms = tracker->since_ms,
		.before = tracker->totals,
		.only_changed = q->only_changed,
		.tick = tick,
	};
	/* Totals of other processes cannot be compared: those of another filter, or above --min. */
	if (q->min || (tracker->taken && set->filter[set->now] != query_filter_key(q)))
		set->delta.before = (struct totals){.processes = 1};
}

void delta_set_join(struct delta_set *set, const struct column *group, struct snapshot *s,
		    struct rows *rows)
{
	delta_tracker_join(&set->tracker[set->now], group, s, rows, &set->delta.counts);
	set->joined = true;
}

static int update(struct delta_set *set, enum delta_kind kind, const struct query *q,
		  struct snapshot *s, struct rows *rows, const struct totals *totals)
{
	struct tracker *tracker = &set->tracker[kind];
	const struct column *group = kind >= DELTA_GROUPS ? q->group : NULL;
	bool keeps_filter = tracker->from_start && tracker->taken;
	struct delta_counts counts;
	int r;

	if (kind != set->now || !set->joined)
		delta_tracker_join(tracker, group, s, rows, &counts);
	r = delta_tracker_update(tracker, group, s, rows, totals);
	if (r == 0 && !keeps_filter)
		set->filter[kind] = query_filter_key(q);
	return r;
}

int delta_set_update(struct delta_set *set, const struct query *q, struct snapshot *s,
		     struct query_rows *rows, const struct result *result)
{
	/* The kind that is joined already comes first: joining another one undoes that. */
	struct rows *now = set->now >= DELTA_GROUPS ? &rows->made : &rows->chosen;
	int r = update(set, set->now, q, s, now, &result->totals);

	for (int kind = 0; r == 0 && set->all && kind < DELTA_KINDS; kind++) {
		if (kind == (int)set->now || (kind >= DELTA_GROUPS && !q->group))
			continue;
		r = update(set, kind, q, s, kind >= DELTA_GROUPS ? &rows->made : &rows->chosen,
			   &result->totals);
	}
	set->joined = false;
	return r;
}
