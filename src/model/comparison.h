/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a comparison of BPF and /proc found. check/compare.h explains the verdicts. */
#ifndef ZMEM_MODEL_COMPARISON_H
#define ZMEM_MODEL_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/snapshot.h"

enum compare_verdict {
	COMPARE_SAME,
	COMPARE_MOVED,	     /* bracketed, or fitted in a later round, or moved in every round */
	COMPARE_APPROXIMATE, /* /proc is approximate, and the difference within its bound */
	COMPARE_GONE,
	COMPARE_DENIED,	 /* one side may not be read */
	COMPARE_TIMEOUT, /* the target is stuck and cannot be read */
	COMPARE_DIFFERENT,
	COMPARE_VERDICTS,
};

/* "same", …, "DIFFERENT": the words of the contract. */
const char *compare_verdict_name(enum compare_verdict verdict);

/* A counter of a process. */
struct compare_cell {
	uint64_t bpf, proc_before, proc_after; /* bytes; equal after one reading */
	uint8_t counter;		       /* enum counter */
	uint8_t verdict;		       /* enum compare_verdict, once it is settled */
	bool settled;
	bool left_out; /* one side lacks this value of this process: the cell does not count */
	bool bpf_known, proc_known;
	uint8_t alike; /* rounds in a row with the same difference while nothing moved */
};

/* A process: its cells, by the counters that can be compared. */
struct compare_row {
	const struct process *process; /* pid, name, start time */
	struct compare_cell *cell;
	size_t count;
	bool settled;	 /* every cell is settled */
	uint64_t mm_key; /* of the program in the last round; 0 before */
	bool execed;	 /* the process became another program in a round */
	/* For --verify: */
	bool agrees; /* all values agreed in one round */
	bool gone;
};

struct comparison {
	struct compare_row *row;
	size_t count;
	uint64_t bound;	  /* bytes that a counter of status may be off by on this kernel */
	bool per_thread;  /* the bound is for each thread of the process */
	bool approximate; /* status is approximate; set by compare_finish() */
};

/* The sums of a comparison. */
struct compare_sums {
	size_t processes;
	size_t cells;
	size_t verdict[COMPARE_VERDICTS];
};

/* The cost of reading all once from each side. */
struct compare_cost {
	uint64_t bpf_us, proc_us;
	uint64_t proc_files;		/* opened; BPF opens one a reader */
	bool reads_known;		/* the kernel counts them (/proc/self/io) */
	uint64_t bpf_reads, proc_reads; /* calls of read() */
};

/*
 * The bytes by which BPF is above the readings of /proc, negative if below, 0 if between them.
 * False if one side is not known.
 */
bool compare_difference(const struct compare_cell *cell, int64_t *ret);

/* True if a report shows the cell; without `all` it shows cells that are not the same. */
static inline bool compare_shown(const struct compare_cell *cell, bool all)
{
	return !cell->left_out && (all || cell->verdict != COMPARE_SAME);
}

/* Counts cells by their verdicts, without those left out. */
void compare_sum(const struct comparison *c, struct compare_sums *ret);

/* The result of the command. */
struct compare_report {
	const struct comparison *comparison;
	struct compare_sums sums;
	const struct snapshot *snapshot;
	struct compare_cost cost;
	bool all; /* show cells that are the same, too */
};

#endif
