/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tries swap slots on memory of our own: some pages that are swapped out and that a child shares.
 * Each of the two has half of them, which the slots must say, as smaps_rollup does.
 */
#ifndef ZMEM_DOCTOR_SWAP_TRIAL_H
#define ZMEM_DOCTOR_SWAP_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

struct procfs;
struct source;
struct swap_source;

struct swap_trial {
	bool swapped; /* false: no page could be swapped out, so nothing was tried */
	bool agrees;
	uint64_t slots, rollup; /* SWAP_PSS of the child, bytes */
};

/*
 * `source` gives PSS from page tables; `swap` has begun (swap_source_begin()). Returns 0 or a
 * negative errno.
 */
int swap_trial(const struct procfs *proc, struct source *source, struct swap_source *swap,
	       struct swap_trial *ret);

#endif
