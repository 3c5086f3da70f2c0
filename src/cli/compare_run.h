/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A comparison: its subjects, its rounds, its verdicts and what it cost. */
#ifndef ZMEM_CLI_COMPARE_RUN_H
#define ZMEM_CLI_COMPARE_RUN_H

#include "cli/session.h"
#include "compare/compare.h"

struct compare_run {
	struct comparison comparison;
	struct compare_cost cost;
	/* Private: whom the comparison points to. */
	struct process **subject; /* that BPF has, and behind them those that only /proc has */
	size_t count, hidden_count;
	struct snapshot hidden;
};

/* Whether there are two sides. Returns 0, or an exit code after a message. */
int compare_possible(const struct session *s);
/*
 * Compares what the session's filter has. Returns 0, or an exit code after a message;
 * compare_run_done() in either case.
 */
int compare_run(struct session *s, struct compare_run *ret);
void compare_run_done(struct compare_run *run);

#endif
