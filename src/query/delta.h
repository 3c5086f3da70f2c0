/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What rows were before, so that it can be told how they changed. Pure: it is given rows, keeps
 * their values, and points the next ones to them. A process is the same one with the same pid and
 * start; a group, with the same text. Memory is kept from tick to tick, but not for ever that of
 * many more rows.
 */
#ifndef ZMEM_QUERY_DELTA_H
#define ZMEM_QUERY_DELTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query/query.h"
#include "model/snapshot.h"

struct query_rows;
struct result;

/* The values of a row that was. */
struct delta_row {
	counter_mask have;
	uint64_t print; /* of all that the row said: another one, and it changed */
	uint64_t value[COUNTERS_OF_PROCESS];
};

/* Which row that was. */
struct delta_key {
	pid_t pid;    /* 0: a group */
	uint32_t row; /* in delta_rows */
	uint64_t key; /* when it started, or a hash of the group's text */
};

struct delta_rows {
	struct delta_key *key; /* sorted */
	struct delta_row *row;
	size_t count, capacity;
	unsigned idle; /* how often in a row far fewer were needed (base/grow.h) */
};

struct tracker {
	struct delta_rows rows, spare; /* what was, and memory for what will have been */
	bool taken;		       /* there is one */
	bool from_start;	  /* what was first is kept (--delta start), not what was last */
	uint64_t seed;		  /* of the hashes, so that nobody can choose names that meet */
	struct delta_row nothing; /* of a row that has begun since */
	struct totals totals;	  /* first or last */
	int64_t since_ms;	  /* when, ms since the epoch: first or last */
	int64_t last_boot_ms;	  /* last, ms since the machine booted */
};

/* Since the last time. */
struct delta_counts {
	size_t started, ended, changed;
};

/* One that knows nothing yet. */
void delta_tracker_init(struct tracker *tracker, uint64_t seed, bool from_start);
void delta_tracker_done(struct tracker *tracker);
/*
 * Points each row to what it was (process.before; NULL: nobody knows) and says whether it changed
 * (process.changed), and the snapshot how long that takes in (snapshot.change_us, 0 if changes are
 * told as they are). `group`: what groups have in common, NULL: rows are processes. What has
 * started since had nothing, and grew by all it has. Counts are of the last time; all 0, and all
 * rows changed, before the first.
 */
void delta_tracker_join(const struct tracker *tracker, const struct column *group,
			struct snapshot *s, struct rows *rows, struct delta_counts *ret);
/*
 * Takes these rows, all that there are and joined, for the next time. Nothing may point to what was
 * before any more. Returns 0, or -ENOMEM and all is as it was.
 */
int delta_tracker_update(struct tracker *tracker, const struct column *group,
			 const struct snapshot *s, const struct rows *rows,
			 const struct totals *totals);

/* By how many bytes a counter changed; false if that was not measured, then or now. */
bool delta_of(enum counter c, counter_mask have, const uint64_t *value, counter_mask have_before,
	      const uint64_t *before, int64_t *ret_bytes);
/* Per second, if so many microseconds have passed; as it is for 0. Rounds to nearest. */
int64_t delta_rate(int64_t bytes, uint64_t us);
/* Of a row and a column of its changes: as it is. False if it is not known. */
bool delta_of_row(const struct process *p, enum counter c, int64_t *ret_bytes);

/* Likewise of totals, where no processes have nothing, and that is known. */
bool delta_of_totals(enum counter c, const struct totals *now, const struct totals *before,
		     int64_t *ret_bytes);

/* What a command that stays costs, for one tick. */
struct own_cost {
	uint64_t cpu_us;	 /* of all our threads, BPF programs included */
	uint64_t resident_bytes; /* RSS */
	bool known;		 /* there was a tick */
};

/* What a tick says beside its rows. */
struct delta {
	bool known;	      /* there was one before; else rows have no changes */
	bool from_start;      /* since the first tick, not per second since the last */
	int64_t since_ms;     /* since when, ms since the epoch */
	struct totals before; /* the totals then */
	struct delta_counts counts;
	bool only_changed;    /* rows that did not are not shown (--changed) */
	uint64_t tick;	      /* 1: the first */
	uint64_t missed;      /* ticks that were due and left out so far */
	struct own_cost cost; /* of the tick before this one */
};

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
