/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The earlier rows of a command that stays (watch, top): of processes and of groups, the last ones
 * and the first ones. top switches among the four; watch keeps the one that it shows.
 */
#ifndef ZMEM_QUERY_DELTA_SET_H
#define ZMEM_QUERY_DELTA_SET_H

#include "query/delta.h"
#include "query/query_run.h"

enum delta_kind {
	DELTA_PROCESSES,
	DELTA_PROCESSES_FIRST,
	DELTA_GROUPS,
	DELTA_GROUPS_FIRST,
	DELTA_KINDS,
};

struct delta_set {
	struct tracker tracker[DELTA_KINDS];
	uint64_t filter[DELTA_KINDS]; /* query_filter_key() of the totals of each */
	const struct column *group;   /* of the groups */
	enum delta_kind now;	      /* what rows are compared with */
	bool all;		      /* all kinds are kept, not only `now` */
	bool joined;		      /* the rows of this snapshot are joined with `now` */
	struct delta delta;	      /* what is said of this snapshot beside its rows */
};

/* `seed` is delta_tracker_init()'s. `all`: what rows are compared with will change. */
void delta_set_init(struct delta_set *set, uint64_t seed, bool all);
void delta_set_done(struct delta_set *set);
/* Forgets the last rows, but keeps the first ones: the next snapshot is an earlier one. */
void delta_set_forget_last(struct delta_set *set);
/*
 * The query's rows are compared with the last ones, or with the first ones. Begins set->delta; its
 * tick, missed and cost are the caller's.
 */
void delta_set_begin(struct delta_set *set, const struct query *q, bool from_start);
/* Compares these rows with the earlier ones (delta_tracker_join()). */
void delta_set_join(struct delta_set *set, const struct column *group, struct snapshot *s,
		    struct rows *rows);
/*
 * Keeps the rows of this result for the next snapshot. Nothing may point to earlier ones from then
 * on. Returns 0 or -ENOMEM.
 */
int delta_set_update(struct delta_set *set, const struct query *q, struct snapshot *s,
		     struct query_rows *rows, const struct result *result);

#endif
