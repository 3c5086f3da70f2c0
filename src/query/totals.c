// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sums of rows. Knows what may be added to what; refuses to guess what was not measured. */
#include "zmem/query.h"

/* Of those who share an address space one carries it; what has no memory adds none. */
bool totals_counts(const struct process *p)
{
	return p->kind == PROCESS_USER && (p->mm_owner || !p->mm_id);
}

void totals_sum(struct process *const *rows, size_t count, bool pruned, struct totals *ret_totals)
{
	struct totals t = {.processes = count};
	/* Counters that some, and that all of the counted rows have. */
	counter_mask some = 0, all = ~(counter_mask)0;
	/* What all that have PSS have: page tables tell less than smaps_rollup. */
	counter_mask with_pss = ~(counter_mask)0;
	/* Sums that are larger than can be. */
	counter_mask beyond = 0;

	for (size_t i = 0; i < count; i++) {
		const struct process *p = rows[i];

		if (!totals_counts(p))
			continue;
		some |= p->have;
		all &= p->have;
		if (process_has(p, COUNTER_PSS))
			with_pss &= p->have;
		t.pss_missing += !process_has(p, COUNTER_PSS);
		for (int c = 0; c < COUNTER_COUNT; c++) {
			if (process_has(p, c) &&
			    __builtin_add_overflow(t.value[c], p->value[c], &t.value[c]))
				beyond |= COUNTER_BIT(c);
		}
	}
	for (int c = 0; c < COUNTER_COUNT; c++) {
		bool read = counter_table[c].origin != ORIGIN_KERNEL;
		/* What pruning skipped may be known all the same: no swap, no share of it. */
		counter_mask known = !read ? some : pruned ? some & all : some & with_pss;

		if (known & ~beyond & COUNTER_BIT(c))
			t.have |= COUNTER_BIT(c);
		else
			t.value[c] = 0;
	}
	*ret_totals = t;
}
