/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* /proc/PID/smaps_rollup (Documentation/ABI/testing/procfs-smaps_rollup). */
#ifndef ZMEM_SMAPS_ROLLUP_H
#define ZMEM_SMAPS_ROLLUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rollup_counter {
	ROLLUP_RSS,
	ROLLUP_PSS,
	ROLLUP_PSS_ANON, /* the split exists since 5.9 */
	ROLLUP_PSS_FILE,
	ROLLUP_PSS_SHMEM,
	ROLLUP_PRIVATE_CLEAN,
	ROLLUP_PRIVATE_DIRTY,
	ROLLUP_ANON_HUGE,
	ROLLUP_SHMEM_PMD,
	ROLLUP_FILE_PMD,
	ROLLUP_SWAP,
	ROLLUP_SWAP_PSS,
	ROLLUP_COUNTERS,
};

struct smaps_rollup {
	uint32_t have;			 /* bit per enum rollup_figure */
	uint64_t value[ROLLUP_COUNTERS]; /* bytes */
};

/* Whether a value was in the file. */
static inline bool rollup_has(const struct smaps_rollup *r, enum rollup_counter counter)
{
	return r->have >> counter & 1;
}

/*
 * Exact keys ("Swap:" is not "SwapPss:"); unknown ones are ignored, missing ones have no bit, one
 * whose number is not understood has none either. Returns 0, or -EINVAL if there is no Rss and no
 * Pss in it (garbage, or cut off), and then *ret is untouched.
 */
int smaps_rollup_parse(const char *text, size_t len, struct smaps_rollup *ret);

#endif
