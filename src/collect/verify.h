/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Checks PSS of a snapshot: a comparison with smaps_rollup (compare/verify.h), restricted to the
 * rows whose values did not agree when they were read, and to those that --verify asks for.
 */
#ifndef ZMEM_COLLECT_VERIFY_H
#define ZMEM_COLLECT_VERIFY_H

#include "collect/collector.h"

/*
 * Reads rows in `recheck` again until their values are of one moment, then compares the PSS of
 * spec.verify rows that the kernel measured. Completes collection.cross_check and lists the
 * differences. Returns 0 or a negative errno.
 */
int verify_rows(struct collector *c, struct process **recheck, size_t count);

/*
 * Rows whose PSS is the kernel's, to be compared with smaps_rollup: `how_many` small ones, from a
 * random one on, so that in time each gets its turn; or VERIFY_ALL. `ret` has room for all rows.
 * Returns how many.
 */
size_t verify_choose(const struct collector *c, int how_many, struct process **ret);

/* Whether the smaps_rollup that was applied to the process agrees with its counters. */
bool verify_agrees(const struct process *p, const struct pool_result *result);
/* Replaces the counters of the kernel by those of another reading. */
void verify_copy_counters(struct process *p, const struct process *from);

#endif
