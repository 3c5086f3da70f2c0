/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A comparison of what BPF and /proc show: its processes, its rounds, its verdicts, its cost. */
#ifndef ZMEM_COLLECT_COMPARE_RUN_H
#define ZMEM_COLLECT_COMPARE_RUN_H

#include "collect/collector.h"
#include "compare/compare.h"

struct compare_run {
	struct comparison comparison;
	struct compare_cost cost;
	/* Private: the processes that the comparison points to. */
	struct process **subject; /* those that BPF shows, then those that only /proc shows */
	size_t count, hidden_count;
	struct snapshot hidden;
};

/*
 * Compares the chosen processes of collector_begin(), and those that the filter of its query
 * accepts and BPF does not see. smaps_rollup is read of spec.verify of them. Returns 0 or a
 * negative errno; compare_run_done() in either case.
 */
int compare_run(struct collector *c, const struct query *q, struct compare_run *ret);
void compare_run_done(struct compare_run *run);

/* By how much /proc/PID/status may lag behind on this machine. */
void compare_set_bound(const struct collector *c, struct comparison *comparison);

#endif
