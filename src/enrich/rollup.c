// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What a smaps_rollup means for a process. Knows the values' relation to the kernel's counters;
 * reads no file (proc_pool.c does).
 *
 * fs/proc/task_mmu.c: Swap counts private swap entries and swapped shared memory, in full for every
 * mapper; SwapPss leaves shared memory out. The kernel's MM_SWAPENTS is private entries alone.
 */
#include "enrich/enrich.h"

static void copy(struct process *p, enum counter c, const struct smaps_rollup *f,
		 enum rollup_counter key)
{
	if (rollup_has(f, key))
		process_set(p, c, f->value[key]);
}

void rollup_apply(struct process *p, const struct pool_result *result)
{
	const struct smaps_rollup *f = &result->counters;

	p->pss_status = result->status;
	/* Cut off before the value everything is about. */
	if (result->status == PSS_OK && !rollup_has(f, ROLLUP_PSS))
		p->pss_status = PSS_UNSUPPORTED;
	if (p->pss_status != PSS_OK)
		return;
	p->pss_source = PSS_FROM_ROLLUP;
	copy(p, COUNTER_PSS, f, ROLLUP_PSS);
	copy(p, COUNTER_PSS_ANON, f, ROLLUP_PSS_ANON);
	copy(p, COUNTER_PSS_FILE, f, ROLLUP_PSS_FILE);
	copy(p, COUNTER_PSS_SHMEM, f, ROLLUP_PSS_SHMEM);
	copy(p, COUNTER_SWAP_PSS, f, ROLLUP_SWAP_PSS);
	if (rollup_has(f, ROLLUP_PRIVATE_CLEAN) && rollup_has(f, ROLLUP_PRIVATE_DIRTY))
		process_set_sum(p, COUNTER_USS, f->value[ROLLUP_PRIVATE_CLEAN],
				f->value[ROLLUP_PRIVATE_DIRTY], 0);
	if (rollup_has(f, ROLLUP_ANON_HUGE))
		process_set_sum(p, COUNTER_THP, f->value[ROLLUP_ANON_HUGE],
				f->value[ROLLUP_SHMEM_PMD], f->value[ROLLUP_FILE_PMD]);
	if (rollup_has(f, ROLLUP_SWAP) && process_has(p, COUNTER_SWAP) &&
	    f->value[ROLLUP_SWAP] >= p->value[COUNTER_SWAP])
		process_set(p, COUNTER_SWAP_SHMEM, f->value[ROLLUP_SWAP] - p->value[COUNTER_SWAP]);
	process_derive(p);
}
