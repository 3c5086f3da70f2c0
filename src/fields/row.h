/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A result, and its rows: processes, or sums of processes. What was measured is in the process of
 * a row; what only a row has is here.
 */
#ifndef ZMEM_FIELDS_ROW_H
#define ZMEM_FIELDS_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/process_list.h"

struct field;
struct findings;

/* How the size of a row went up and down from tick to tick, since row_before.first. */
struct row_steps {
	uint32_t ticks;			 /* with a measured tick before */
	uint32_t up, down;		 /* in how many of them it grew, and shrank */
	uint64_t gained, lost;		 /* bytes, in all of them */
	uint64_t most_gained, most_lost; /* in one of them */
};

/* The values of an earlier row. */
struct row_before {
	counter_mask have;
	uint64_t hash; /* of all values and texts of the row: another hash means a change */
	uint64_t value[COUNTERS_OF_PROCESS];
	/* At the last tick, also if the values are the first ones: row_size(). */
	uint64_t last;
	uint8_t last_counter; /* COUNTER_COUNT: none was measured */
	struct row_steps steps;
	uint64_t last_swap, last_swapins, last_wait; /* of the last tick, with their bits */
	counter_mask last_have;
	int64_t last_ms; /* since the epoch */
	/* The same at the first tick with the same counter. */
	uint64_t first;
	int64_t first_ms; /* since the epoch */
};

struct row {
	struct process *process; /* of a sum: the sums, and what its processes have in common */
	/* For a sum: */
	uint32_t procs;	      /* its processes */
	uint32_t pss_missing; /* those of them that have memory but no PSS */
	counter_mask partial; /* counters that some of them lack */
	/* Since an earlier snapshot (query/delta_tracker.h): */
	const struct row_before *before; /* its values then; NULL: unknown */
	bool changed;			 /* since the last tick */
	bool started;			 /* likewise: there is no earlier value */
	bool swaps;			 /* swap changed since the last tick */
	bool swapin_known, wait_known;
	uint32_t swapin;     /* swap-ins per second since the last tick */
	uint32_t wait;	     /* ms lost per second, likewise */
	uint32_t grew_ticks; /* in how many of `ticks` its size grew (row_size()) */
	uint32_t ticks;	     /* ticks with a measured tick before */
	bool stands_out;     /* its growth does (row_stands_out()) */
	/* By how many bytes its size grew since row_before.first; one that has begun: from 0. */
	int64_t grown;
	uint64_t watched_ms; /* in that time; 0: not known */
	uint64_t hash;	     /* of all values and names */

	uint64_t rank; /* scratch of the sort of rows */
};

/* Rows, by value: sorting moves them. */
struct rows {
	struct row *item;
	size_t count;
	size_t capacity;
};

/* Sums over rows, an address space once. */
struct totals {
	size_t processes;
	size_t pss_missing; /* processes without PSS */
	/* PSS_OK, or the reason of one of them; if no process has memory, why, and whether that is
	 * so for all of them. */
	enum pss_status pss_status;
	bool for_all;
	counter_mask have;
	counter_mask partial; /* sums that lack the value of some process: lower bounds */
	uint64_t value[COUNTERS_OF_PROCESS];
	struct node_shares nodes;    /* with the bit of COUNTER_NODES */
	struct kernel_shares kernel; /* the parts of COUNTER_KERNEL */
};

/* Rows that did so since the last tick. */
struct delta_counts {
	size_t started, ended, changed;
};

/* What watch, top or serve cost in one tick. */
struct own_cost {
	uint64_t cpu_us;	 /* of all threads, BPF programs included */
	uint64_t resident_bytes; /* RSS */
	bool known;		 /* there was a tick */
};

/* What a tick shows beside its rows. */
struct delta {
	bool known;	      /* there was an earlier tick; else rows have no changes */
	bool from_start;      /* changes are since the first tick, not per second since the last */
	int64_t since_ms;     /* the time of the earlier tick, ms since the epoch */
	struct totals before; /* the totals of the earlier tick */
	struct delta_counts counts;
	bool only_changed;    /* rows that did not change are hidden (--changed) */
	uint64_t tick;	      /* the number of the tick, from 1 */
	uint64_t missed;      /* ticks that were skipped so far */
	struct own_cost cost; /* of the tick before */
};

/* What a command found and a renderer shows. It borrows everything it points to. */
struct result {
	const struct snapshot *snapshot;
	enum pss_source pss; /* of all that were chosen, shown or not */
	/* Rows are groups that have this column in common; NULL: rows are processes. */
	const struct field *group;
	bool memcgs;		/* the groups are all memory cgroups */
	bool tree;		/* rows have the sums of the rows below them */
	bool app;		/* it was asked for; a recording has it in any case */
	bool hints;		/* likewise findings of that level */
	const struct row *rows; /* shown, in order */
	size_t row_count;
	size_t others_count; /* matched and not shown */
	struct totals others;
	struct totals totals;	   /* shown and others */
	const struct delta *delta; /* since an earlier one; NULL: there is none */
	/* What is wrong, if it was looked for before; NULL: it was not. */
	const struct findings *found;
	pid_t killed; /* the victim, if it is the moment of an OOM kill; 0: it is none, or not known
		       */
};

/* The number of processes in a row. */
static inline size_t row_processes(const struct row *r)
{
	return r->process->kind == PROCESS_SUM ? r->procs : 1;
}

/* The change of a counter in bytes. False if the counter was not measured both times. */
bool counter_change(enum counter c, counter_mask have, const uint64_t *value,
		    counter_mask have_before, const uint64_t *before, int64_t *ret_bytes);
/* The change of a row, not per second. */
bool row_change(const struct row *r, enum counter c, int64_t *ret_bytes);

/*
 * What shows the growth of a process: its anonymous and shared memory and its swap, with what it
 * shares. PSS and USS also change when another process begins or ends, and page cache comes and
 * goes. Where they are not known, RSS and swap. COUNTER_COUNT: nothing was measured.
 */
enum counter row_size(const struct process *p, uint64_t *ret_bytes);

/*
 * Whether a growth, below 0 a loss, stands out of its scatter: it took three steps, none of them
 * more than half of it, and what went the other way in between is no more than half of it. A size
 * that never changed has grown by 0.
 */
bool row_stands_out(const struct row_steps *steps, int64_t grown);
/* In a shorter time, a page more is many in an hour. */
#define ROW_GROWTH_MS 10000

/*
 * By how many bytes it grew in an hour, by what it grew so far. False: it was watched for less than
 * ten seconds, or it does not stand out.
 */
bool row_growth(const struct row *r, int64_t *ret_bytes);

/* Whether it grew in most of three or more snapshots, by a page or more each time. */
bool row_grows_steadily(const struct row *r, uint32_t page_size);

/* Forgets the rows and makes room for `count`. Returns 0 or -ENOMEM. */
int rows_reserve(struct rows *rows, size_t count);
/* The same, with a row for each of the processes. */
int rows_of(struct rows *rows, struct process *const *processes, size_t count);
void rows_done(struct rows *rows);
/* Lists the processes of rows. Returns 0 or -ENOMEM. */
int rows_processes(const struct row *rows, size_t count, struct process_list *ret);

#endif
