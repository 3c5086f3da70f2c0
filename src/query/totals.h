/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A sum that is still being added to: of a list, or of a tree from its leaves. */
#ifndef ZMEM_QUERY_TOTALS_H
#define ZMEM_QUERY_TOTALS_H

#include "query/query.h"

struct sum {
	struct totals totals;	/* so far; `have` only at the end */
	counter_mask some, all; /* counters that some, and that all of the counted rows have */
	counter_mask with_pss;	/* that all have that have PSS: page tables tell less than
				   smaps_rollup */
	counter_mask beyond;	/* sums that are larger than can be */
};

#define SUM_EMPTY ((struct sum){.all = ~(counter_mask)0, .with_pss = ~(counter_mask)0})

void sum_add(struct sum *sum, const struct process *p);
void sum_merge(struct sum *sum, const struct sum *more);
/* A row that stands for what was summed: its values, how many, and who is without PSS. */
void sum_row(const struct sum *sum, struct process *p);

#endif
