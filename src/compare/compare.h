/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The same processes as the kernel shows them to BPF and as /proc shows them, counter by counter.
 * Pure: readings go in, verdicts come out; src/collect reads.
 *
 * One round is a row of readings, in this order: status, BPF, smaps_rollup, BPF, status. So each
 * BPF reading lies between two of status, and smaps_rollup between two of BPF. A cell that does not
 * fit is read again in the next round; only a difference that stays the same while nothing else
 * moves counts, and while the process stays one program: after an exec its values are another's.
 *
 * /proc/PID/status is exact since Linux 6.16 (82241a83cd15, in stable 6.12 too). Before, from 6.2
 * on, it leaves out what CPUs have counted by themselves: up to batch - 1 pages on each, with a
 * batch of max(32, 2 * CPUs) (lib/percpu_counter.c). Until 6.1 it leaves out what threads hold
 * back: 64 faults each (TASK_RSS_EVENTS_THRESH, mm/memory.c), of up to 16 pages
 * (fault_around_bytes). smaps_rollup counts page tables and is exact everywhere: where it sides
 * with BPF while status does not, status is approximate, and what differs by no more than its bound
 * is called so.
 */
#ifndef ZMEM_COMPARE_H
#define ZMEM_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/snapshot.h"

enum compare_verdict {
	COMPARE_SAME,
	COMPARE_MOVED,	     /* bracketed, or it fitted in a later round, or never stood still */
	COMPARE_APPROXIMATE, /* /proc is, within its bound */
	COMPARE_GONE,
	COMPARE_DENIED,	 /* one side does not show it to us */
	COMPARE_TIMEOUT, /* the target is stuck and does not let itself be read */
	COMPARE_DIFFERENT,
	COMPARE_VERDICTS,
};

/* "same", …, "DIFFERENT": the words of the contract. */
const char *compare_verdict_name(enum compare_verdict verdict);

/* One counter of one process. */
struct compare_cell {
	uint64_t bpf, proc_before, proc_after; /* bytes; alike if there was one reading */
	uint8_t counter;		       /* enum counter */
	uint8_t verdict;		       /* enum compare_verdict, once it is settled */
	bool settled;
	bool left_out; /* one side does not have this value of this process: it is no cell */
	bool bpf_known, proc_known;
	uint8_t alike; /* rounds in a row with the same difference while nothing moved */
};

/* One process: its cells, by the counters that can be compared. */
struct compare_row {
	const struct process *process; /* pid, name, start time */
	struct compare_cell *cell;
	size_t count;
	bool settled;	 /* every cell is */
	uint64_t mm_key; /* of the program it was in the last round; 0: there was none */
	bool execed;	 /* it became another program in one of the rounds */
	/* Of --verify (verify.h): */
	bool agrees; /* all values agreed in one round */
	bool gone;
};

/* What was seen of a process in one round. NULL: not read, or not there. */
struct compare_seen {
	const struct process *status_before, *status_after; /* counters of /proc/PID/status */
	const struct process *bpf_before, *bpf_after;
	const struct process *rollup; /* values of smaps_rollup */
	/* Why one of the above is NULL; PSS_SKIPPED: it was not to be read. */
	enum pss_status status_result, rollup_result;
	bool undisturbed; /* no process was started meanwhile that could share pages */
	bool stale;	  /* a recording that has no more of it cannot tell */
};

struct comparison {
	struct compare_row *row;
	size_t count;
	uint64_t bound;	  /* bytes that a counter of status may be off by on this kernel */
	bool per_thread;  /* for each thread of the process */
	bool approximate; /* status is: compare_finish() found it out */
};

/* The sums of a comparison. */
struct compare_sums {
	size_t processes;
	size_t cells;
	size_t verdict[COMPARE_VERDICTS];
};

/* What the two sides took to read all once. */
struct compare_cost {
	uint64_t bpf_us, proc_us;
	uint64_t proc_files;		/* opened; BPF opens one a reader */
	bool reads_known;		/* the kernel counts them (/proc/self/io) */
	uint64_t bpf_reads, proc_reads; /* calls of read() */
};

/* smaps_rollup has whole kB. */
#define COMPARE_SHARE_TOLERANCE 1024
/* A cell that has not settled after so many rounds never stands still. */
#define COMPARE_ROUNDS 30

/*
 * Makes the rows: cells for each counter that `wanted` has and that has a policy. The processes
 * are borrowed. Returns 0 or -ENOMEM; comparison_done() in either case.
 */
int comparison_init(struct comparison *c, struct process *const *process, size_t count,
		    counter_mask wanted);
void comparison_done(struct comparison *c);

/* The bound on a machine with so many CPUs. */
uint64_t compare_bound_per_cpu(unsigned cpus, uint32_t page_size);
/* Until 6.1, for each thread of a process. */
uint64_t compare_bound_per_thread(uint32_t page_size);

/* Judges what is not settled of a row by this round, 1 and up; settles all in the last one. */
void compare_judge(struct compare_row *row, const struct compare_seen *seen, unsigned round);
/* Settles a whole row: gone, denied. */
void compare_settle(struct compare_row *row, enum compare_verdict verdict);
/*
 * After the last round: whether status is approximate here, and what that explains. `referees`: how
 * many processes smaps_rollup was read of; without any, the bound alone has to do.
 */
void compare_finish(struct comparison *c, size_t referees);

/*
 * By how much BPF is outside of what /proc said, bytes, negative if below; 0 if between its two
 * readings. False if one of them is not known.
 */
bool compare_difference(const struct compare_cell *cell, int64_t *ret);

/* Whether a report shows the cell: all of them, or those that are not the same. */
static inline bool compare_shown(const struct compare_cell *cell, bool all)
{
	return !cell->left_out && (all || cell->verdict != COMPARE_SAME);
}

/* Counts cells by their verdicts; those that are left out are none. */
void compare_sum(const struct comparison *c, struct compare_sums *ret);

#endif
