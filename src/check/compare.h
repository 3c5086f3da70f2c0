/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Compares the counters of processes in BPF with those in /proc. Pure: readings go in, verdicts
 * come out; check/compare_read.c reads.
 *
 * One round reads in this order: status, BPF, smaps_rollup, BPF, status. So each BPF reading lies
 * between two of status, and smaps_rollup between two of BPF. A cell that does not fit is read
 * again in the next round. A difference counts only if it stays the same while nothing else moves
 * and the process stays the same program.
 *
 * /proc/PID/status is exact since Linux 6.16 (82241a83cd15, in stable 6.12 too). From 6.2 to there
 * it lacks the pending counts of CPUs: up to batch - 1 pages each, with a batch of max(32, 2 *
 * CPUs) (lib/percpu_counter.c). Until 6.1 it lacks the pending counts of threads: 65 faults each
 * (TASK_RSS_EVENTS_THRESH, mm/memory.c), of up to 16 pages (fault_around_bytes). smaps_rollup
 * counts page tables and is always exact: if it agrees with BPF and status does not, status is
 * approximate, and a difference within its bound has this verdict.
 *
 * --verify is a comparison of PSS, USS, RSS and SWAP of some processes after a snapshot. A process
 * is done when its readings agree or its difference counts.
 */
#ifndef ZMEM_CHECK_COMPARE_H
#define ZMEM_CHECK_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/comparison.h"
#include "proc/smaps.h"

/* The readings of a process in one round. NULL: not read, or not there. */
struct compare_seen {
	const struct process *status_before, *status_after; /* counters of /proc/PID/status */
	const struct process *bpf_before, *bpf_after;
	const struct process *rollup;	     /* values of smaps_rollup */
	const struct smaps_rollup *counters; /* its own; of --verify */
	/* Why one of the above is NULL; PSS_SKIPPED: not requested. */
	enum pss_status status_result, rollup_result;
	bool undisturbed; /* no process was started that could share pages */
};

/* smaps_rollup has whole kB. */
#define COMPARE_SHARE_TOLERANCE 1024
/* A cell that has not settled after so many rounds counts as moved. */
#define COMPARE_ROUNDS 30

/*
 * Makes the rows: cells for each counter that `wanted` has and that has a policy. The processes
 * are borrowed. Returns 0 or -ENOMEM; comparison_done() in either case.
 */
int comparison_init(struct comparison *c, struct process *const *process, size_t count,
		    counter_mask wanted);
void comparison_done(struct comparison *c);

/* The bound on a machine with this number of CPUs. */
uint64_t compare_bound_per_cpu(unsigned cpus, uint32_t page_size);
/* Until 6.1, for each thread of a process. */
uint64_t compare_bound_per_thread(uint32_t page_size);

/* Judges the unsettled cells of a row by this round, from 1 on; the last round settles all. */
void compare_judge(struct compare_row *row, const struct compare_seen *seen, unsigned round);
/* Settles all cells of a row: gone, denied. */
void compare_settle(struct compare_row *row, enum compare_verdict verdict);
/*
 * After the last round: decides whether status is approximate here, and which differences that
 * explains. `referees`: the number of processes with a smaps_rollup; without any only the bound
 * decides.
 */
void compare_finish(struct comparison *c, size_t referees);

/* ---- --verify ---- */

#define VERIFY_ALL   (-1)
#define VERIFY_USUAL 3 /* processes in one snapshot */

/* The counters of --verify. */
#define VERIFY_COUNTERS                                                                            \
	(COUNTER_BIT(COUNTER_PSS) | COUNTER_BIT(COUNTER_USS) | COUNTER_BIT(COUNTER_RSS) |          \
	 COUNTER_BIT(COUNTER_SWAP))

/*
 * True if smaps_rollup, and the values that rollup_apply() made of it, agree with `p`: RSS exactly,
 * PSS and USS of the kernel to the kB. Its Swap includes shared memory, so it is an upper bound of
 * SWAP, and SwapPss is a lower bound.
 */
bool compare_agrees(const struct process *p, const struct process *values,
		    const struct smaps_rollup *rollup);

/* Leaves out cells that the row cannot have: shares, if its PSS does not come from the kernel. */
void compare_verify_begin(struct compare_row *row);
/*
 * Judges one round, as compare_judge() does. Returns true when the row is done: its readings agree
 * (row->agrees), one of its cells differs, the process is gone, or this was the last round.
 */
bool compare_verify(struct compare_row *row, const struct compare_seen *seen, unsigned round);
/* After compare_finish(): COMPARE_SAME, _MOVED, _GONE or _DIFFERENT. */
enum compare_verdict compare_verify_verdict(const struct compare_row *row);
/* The cell that differs, PSS if several do; NULL if none does. */
const struct compare_cell *compare_verify_cell(const struct compare_row *row);
/*
 * True if the kernel's PSS or USS is wrong. If RSS differs as well, smaps_rollup may be: until
 * Linux 6.1 it leaves huge pages out that are PROT_NONE.
 */
bool compare_verify_pss_wrong(const struct compare_row *row);

#endif
