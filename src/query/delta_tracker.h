/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Earlier values of rows, for the changes since. Pure: a tracker keeps the values of the rows that
 * it is given, and points the rows of the next tick to them. A process is the same process if its
 * pid and its start are the same; a group, if its text is. Memory is used again in the next tick;
 * memory of many more rows than are needed is freed after a while.
 */
#ifndef ZMEM_QUERY_DELTA_TRACKER_H
#define ZMEM_QUERY_DELTA_TRACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query/query.h"
#include "query/sums.h"

/* The identity of an earlier row. */
struct delta_key {
	pid_t pid;    /* 0: a group */
	uint32_t row; /* in delta_rows */
	uint64_t key; /* the start of the process, or a hash of the group's text */
};

struct delta_rows {
	struct delta_key *key; /* sorted */
	struct row_before *row;
	size_t count, capacity;
	unsigned idle; /* how often in a row far fewer were needed (base/array.h) */
};

struct tracker {
	struct delta_rows rows, spare; /* the earlier rows, and memory for the next ones */
	bool taken;		       /* there are earlier rows */
	bool from_start;	       /* keeps the first values (--delta start), not the last */
	uint64_t seed;		       /* of the hashes: names cannot be chosen to collide */
	struct row_before nothing;     /* the earlier row of a row that has begun since */
	struct totals totals;	       /* the first or the last */
	int64_t since_ms;	       /* the time of `totals`, ms since the epoch */
	int64_t last_boot_ms;	       /* the time of the last rows, ms since the machine booted */
};

void delta_tracker_init(struct tracker *tracker, uint64_t seed, bool from_start);
void delta_tracker_done(struct tracker *tracker);
/*
 * Sets `before` of each row to its earlier values (NULL: not known), `changed` and
 * what it grew by, and snapshot.change_us (the time between the two, 0 if changes are not per
 * second). `group`: the column that groups have in common, NULL: rows are processes. The earlier
 * values of a row that has started since are 0. `ret` counts since the last tick. In the first tick
 * all counts are 0, and all rows have changed.
 */
void delta_tracker_join(const struct tracker *tracker, const struct field *group,
			struct snapshot *s, struct rows *rows, struct delta_counts *ret);
/*
 * Keeps these rows, which must be all rows and joined, for the next tick. No pointer to earlier
 * rows may be used after it. Returns 0, or -ENOMEM with the tracker unchanged.
 */
int delta_tracker_update(struct tracker *tracker, const struct field *group,
			 const struct snapshot *s, const struct rows *rows,
			 const struct totals *totals);

/*
 * The earlier rows of watch and top: of processes and of groups, the last ones and the first ones.
 * top switches among the four; watch keeps the one that it shows.
 */
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
	const struct field *group;    /* the column of the groups */
	enum delta_kind now;	      /* the kind that rows are compared with */
	bool all;		      /* all kinds are kept, not only `now` */
	bool joined;		      /* the rows of this snapshot are joined with `now` */
	struct delta delta;	      /* of this snapshot */
};

/* `seed`: of the hashes. `all`: the kind that rows are compared with will change. */
void delta_set_init(struct delta_set *set, uint64_t seed, bool all);
void delta_set_done(struct delta_set *set);
/* Forgets the last rows and keeps the first ones: the next snapshot is of an earlier time. */
void delta_set_forget_last(struct delta_set *set);
/*
 * Chooses the earlier rows that the query's rows are compared with: the last ones or the first
 * ones. Begins set->delta; the caller sets its tick, missed and cost.
 */
void delta_set_begin(struct delta_set *set, const struct query *q, bool from_start);
/* Compares these rows with the earlier ones (delta_tracker_join()). */
void delta_set_join(struct delta_set *set, const struct field *group, struct snapshot *s,
		    struct rows *rows);
/*
 * Keeps these rows and their totals for the next snapshot. No pointer to earlier rows may be used
 * after it. Returns 0 or -ENOMEM.
 */
int delta_set_update(struct delta_set *set, const struct query *q, struct snapshot *s,
		     struct query_rows *rows, const struct totals *totals);

/* Bytes per second over `us` microseconds, rounded to nearest; `bytes` itself if `us` is 0. */
int64_t delta_rate(int64_t bytes, uint64_t us);
/* The change of a counter of totals. False if it is not known. Totals of no processes are known:
 * all are 0. */
bool delta_of_totals(enum counter c, const struct totals *now, const struct totals *before,
		     int64_t *ret_bytes);

#endif
