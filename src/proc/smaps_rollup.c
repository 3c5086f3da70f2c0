// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Knows /proc/PID/smaps_rollup as text. Refuses to know who may read it, how long that takes and
 * what the values mean together.
 */
#include <errno.h>

#include "base/array.h"
#include "proc/keyed.h"
#include "proc/smaps_rollup.h"

/* In the order of show_smap() and __show_smap(), fs/proc/task_mmu.c; enum rollup_figure follows it.
 */
static const struct keyed_name names[] = {
	[ROLLUP_RSS] = KEYED_NAME("Rss"),
	[ROLLUP_PSS] = KEYED_NAME("Pss"),
	[ROLLUP_PSS_ANON] = KEYED_NAME("Pss_Anon"),
	[ROLLUP_PSS_FILE] = KEYED_NAME("Pss_File"),
	[ROLLUP_PSS_SHMEM] = KEYED_NAME("Pss_Shmem"),
	[ROLLUP_PRIVATE_CLEAN] = KEYED_NAME("Private_Clean"),
	[ROLLUP_PRIVATE_DIRTY] = KEYED_NAME("Private_Dirty"),
	[ROLLUP_ANON_HUGE] = KEYED_NAME("AnonHugePages"),
	[ROLLUP_SHMEM_PMD] = KEYED_NAME("ShmemPmdMapped"),
	[ROLLUP_FILE_PMD] = KEYED_NAME("FilePmdMapped"),
	[ROLLUP_SWAP] = KEYED_NAME("Swap"),
	[ROLLUP_SWAP_PSS] = KEYED_NAME("SwapPss"),
};
_Static_assert(ARRAY_SIZE(names) == ROLLUP_COUNTERS, "a figure without a name");

int smaps_rollup_parse(const char *text, size_t len, struct smaps_rollup *ret)
{
	struct smaps_rollup rollup = {0};
	struct keyed_counters counters = {names, ROLLUP_COUNTERS, .value = rollup.value};
	struct keyed_line line;

	if (!len)
		return -EINVAL;
	for (const char *pos = text, *end = text + len; keyed_next(&pos, end, &line);)
		keyed_counter(&line, &counters);
	if (!(counters.have & (1u << ROLLUP_RSS | 1u << ROLLUP_PSS)))
		return -EINVAL;
	rollup.have = counters.have;
	*ret = rollup;
	return 0;
}
