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
	unsigned idle; /* how often in a row far fewer were needed (base/array.h) */
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

#endif
