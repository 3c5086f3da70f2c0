/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A comparison of BPF and /proc: its processes, rounds, verdicts and cost; and the one of --verify.
 */
#ifndef ZMEM_CHECK_COMPARE_RUN_H
#define ZMEM_CHECK_COMPARE_RUN_H

#include "check/compare_read.h"

struct compare_run {
	struct comparison comparison;
	struct compare_cost cost;
	/* Private: the processes that the comparison points to. */
	struct process **subject; /* processes that BPF sees, then those that only /proc has */
	size_t count, hidden_count;
	struct snapshot hidden;
};

/*
 * Compares the chosen rows, and processes that the filter accepts and BPF does not see. Reads
 * smaps_rollup of c->verify processes. Returns 0 or a negative errno; compare_run_done() in either
 * case.
 */
int compare_run(struct check *c, const struct filter *f, struct compare_run *ret);
void compare_run_done(struct compare_run *run);

/* ---- --verify ---- */

/*
 * smaps_rollup of any process is read only if nothing else has the value: the read holds its
 * mmap_lock, for a process of this size for under 0.1 ms.
 */
bool rollup_is_cheap(const struct process *p);
/*
 * Reads rows in `recheck` again until their values are of one moment. Completes
 * collection.cross_check and lists the differences. Returns 0 or a negative errno.
 */
int verify_rollups(struct check *c, struct process **recheck, size_t count);
/* The same for the PSS of c->verify rows from the kernel. */
int verify_kernel(struct check *c);
/*
 * Chooses rows with PSS from the kernel to compare with smaps_rollup: c->verify small ones, from a
 * random one on, so that over time each is checked; or VERIFY_ALL. `ret` has room for all rows.
 * Returns their number.
 */
size_t verify_choose(const struct check *c, struct process **ret);

#endif
