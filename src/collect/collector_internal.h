/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The steps of the collector. Each returns 0 or a negative errno. */
#ifndef ZMEM_COLLECT_COLLECTOR_INTERNAL_H
#define ZMEM_COLLECT_COLLECTOR_INTERNAL_H

#include "collect/collector.h"

/* ---- rows of a query (collect_rows.c) ---- */

/* Filters the rows of the snapshot. */
int collect_choose_rows(struct collector *c, const struct query *q);
/* Groups, orders, cuts and names the chosen rows. */
int collect_shape_rows(struct collector *c, const struct query *q, struct result *ret);

/* ---- PSS from smaps_rollup (pss_read.c) ---- */

/*
 * Reads smaps_rollup of all chosen rows, or of as few as the first rows of the query need. Returns
 * rows with values that do not agree with their counters in *ret_recheck, in memory of the
 * snapshot.
 */
int pss_read(struct collector *c, const struct query *q, struct process ***ret_recheck,
	     size_t *ret_count);

/*
 * Reads again which processes exist. A process that BPF sees before and after its /proc/PID was
 * read was the same all the time: pids are reused, and this check opens no file. Drops the values
 * of other processes. A process that lives and is not in /proc is denied (hidepid).
 */
int pss_confirm(struct collector *c);

/*
 * After checks that differed (pss_wrong): drops all PSS of the kernel, in this snapshot and from
 * now on. Then pss_read() reads smaps_rollup.
 */
int pss_distrust(struct collector *c);

/*
 * smaps_rollup of any process is read only if nothing else has the value: the read holds its
 * mmap_lock, for a process of this size for under 0.1 ms.
 */
bool rollup_is_cheap(const struct process *p);

/* ---- checks of swap slots (slots_check.c) ---- */

/* Compares SWAP_PSS from swap slots with smaps_rollup; if it differs, drops what came from them. */
int slots_check(struct collector *c);
/* Drops what came from swap slots, and reads no more of them. */
void slots_distrust(struct collector *c);

/* ---- checks of PSS (compare_run.c, compare_read.c) ---- */

/*
 * Reads rows in `recheck` again until their values are of one moment. Completes
 * collection.cross_check and lists the differences.
 */
int verify_rollups(struct collector *c, struct process **recheck, size_t count);
/* The same for the PSS of spec.verify rows from the kernel. */
int verify_kernel(struct collector *c);
/*
 * Chooses rows with PSS from the kernel to compare with smaps_rollup: `how_many` small ones, from a
 * random one on, so that over time each is checked; or VERIFY_ALL. `ret` has room for all rows.
 * Returns their number.
 */
size_t verify_choose(const struct collector *c, int how_many, struct process **ret);
/* True if the smaps_rollup that was applied to the process agrees with its counters. */
bool verify_agrees(const struct process *p, const struct pool_result *result);
/* Replaces the counters of the kernel by those of another reading. */
void verify_copy_counters(struct process *p, const struct process *from);

#endif
