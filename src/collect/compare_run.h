/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A comparison of BPF and /proc: its processes, rounds, verdicts and cost. */
#ifndef ZMEM_COLLECT_COMPARE_RUN_H
#define ZMEM_COLLECT_COMPARE_RUN_H

#include "collect/collector.h"
#include "check/compare.h"

struct compare_run {
	struct comparison comparison;
	struct compare_cost cost;
	/* Private: the processes that the comparison points to. */
	struct process **subject; /* processes that BPF sees, then those that only /proc has */
	size_t count, hidden_count;
	struct snapshot hidden;
};

/*
 * Compares the chosen processes of collector_begin(), and processes that the filter of its query
 * accepts and BPF does not see. Reads smaps_rollup of spec.verify processes. Returns 0 or a
 * negative errno; compare_run_done() in either case.
 */
int compare_run(struct collector *c, const struct query *q, struct compare_run *ret);
void compare_run_done(struct compare_run *run);

#endif
