// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Words, differences and sums of a comparison. */
#include "model/comparison.h"

static const char *const verdict_name[COMPARE_VERDICTS] = {
	[COMPARE_SAME] = "same",
	[COMPARE_MOVED] = "moved",
	[COMPARE_APPROXIMATE] = "approximate",
	[COMPARE_GONE] = "gone",
	[COMPARE_DENIED] = "denied",
	[COMPARE_TIMEOUT] = "timeout",
	[COMPARE_DIFFERENT] = "DIFFERENT",
};

const char *compare_verdict_name(enum compare_verdict verdict)
{
	return verdict_name[verdict];
}

bool compare_difference(const struct compare_cell *cell, int64_t *ret)
{
	uint64_t low = cell->proc_before < cell->proc_after ? cell->proc_before : cell->proc_after;
	uint64_t high = cell->proc_before < cell->proc_after ? cell->proc_after : cell->proc_before;

	if (!cell->bpf_known || !cell->proc_known)
		return false;
	*ret = cell->bpf < low	  ? -(int64_t)(low - cell->bpf)
	       : cell->bpf > high ? (int64_t)(cell->bpf - high)
				  : 0;
	return true;
}

void compare_sum(const struct comparison *c, struct compare_sums *ret)
{
	*ret = (struct compare_sums){.processes = c->count};
	for (size_t i = 0; i < c->count; i++) {
		for (size_t k = 0; k < c->row[i].count; k++) {
			const struct compare_cell *cell = &c->row[i].cell[k];

			if (cell->left_out)
				continue;
			ret->cells++;
			ret->verdict[cell->verdict]++;
		}
	}
}
