/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What smaps_rollup between two readings of the kernel's means for a process. Reads nothing. */
#ifndef ZMEM_CLI_PSS_JUDGE_H
#define ZMEM_CLI_PSS_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "enrich/enrich.h"

enum pss_verdict {
	PSS_VERDICT_SAME,
	PSS_VERDICT_MOVED,
	PSS_VERDICT_DIFFERENT,
	PSS_VERDICT_GONE,
};

/* One process in one round. */
struct pss_seen {
	const struct process *row;	      /* as it was when it was first read */
	const struct process *before, *after; /* NULL: it is not there */
	const struct pool_result *rollup;
	bool quiet; /* no process was started meanwhile */
};

/* One process over all rounds. Zeroed memory is one of which no round was judged yet. */
struct pss_doubt {
	uint64_t mm_key;     /* of the program that the differences are counted of */
	unsigned char quiet; /* how often it differed while nothing was started */
	bool execed;	     /* it became another program in one of the rounds */
};

/* Whether smaps_rollup says what p says: counters, and PSS where it is the kernel's. */
bool pss_agrees(const struct process *p, const struct smaps_rollup *counters);

/*
 * Judges one round. A process is different once it differed six times, each time while nothing
 * moved, nothing was started and it stayed one program: those of another program, before an exec,
 * do not count. Until then it moved.
 */
enum pss_verdict pss_judge(const struct pss_seen *seen, struct pss_doubt *doubt);

#endif
