/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * --verify: a comparison (compare.h) of PSS, USS, RSS and SWAP of some processes, after a snapshot.
 * A process is done once its readings agree, or differ for good. Pure.
 */
#ifndef ZMEM_COMPARE_VERIFY_H
#define ZMEM_COMPARE_VERIFY_H

#include "compare/compare.h"

/* What is compared. */
#define VERIFY_COUNTERS                                                                            \
	(COUNTER_BIT(COUNTER_PSS) | COUNTER_BIT(COUNTER_USS) | COUNTER_BIT(COUNTER_RSS) |          \
	 COUNTER_BIT(COUNTER_SWAP))

/* What smaps_rollup says of one process. */
struct verify_rollup {
	const struct process *values; /* as rollup_apply() has them */
	uint64_t rss, swap;	      /* its own Rss and Swap */
	bool rss_known, swap_known;
};

/*
 * Whether smaps_rollup says what `p` says: RSS exactly, PSS and USS to its whole kB where they are
 * the kernel's. Its Swap has shared memory in it, so it is an upper bound, and SwapPss a lower one.
 */
bool compare_agrees(const struct process *p, const struct verify_rollup *rollup);

/* Leaves out the cells that a row cannot have: shares where PSS is not the kernel's. */
void compare_verify_begin(struct compare_row *row);
/*
 * Judges one round, as compare_judge() does. Returns true once the row is done: its readings agree
 * (row->agrees), one of its cells differs, it is gone, or this was the last round.
 */
bool compare_verify(struct compare_row *row, const struct compare_seen *seen,
		    const struct verify_rollup *rollup, unsigned round);
/* Once compare_finish() was called: COMPARE_SAME, _MOVED, _GONE or _DIFFERENT. */
enum compare_verdict compare_verify_verdict(const struct compare_row *row);
/* The cell that differs, PSS if it does; NULL: none. */
const struct compare_cell *compare_verify_cell(const struct compare_row *row);

#endif
