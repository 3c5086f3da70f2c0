// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* When the readings of --verify agree; compare.c judges those that do not. */
#include "compare/verify.h"

static bool near(const struct process *p, const struct process *rollup, enum counter c)
{
	uint64_t a = p->value[c], b = rollup->value[c];

	if (!process_has(p, c) || !process_has(rollup, c))
		return true;
	return (a > b ? a - b : b - a) <= COMPARE_SHARE_TOLERANCE;
}

bool compare_agrees(const struct process *p, const struct verify_rollup *rollup)
{
	const struct process *values = rollup->values;

	if (rollup->rss_known && process_has(p, COUNTER_RSS) &&
	    rollup->rss != p->value[COUNTER_RSS])
		return false;
	if (rollup->swap_known && process_has(values, COUNTER_SWAP_PSS) &&
	    process_has(p, COUNTER_SWAP) &&
	    (rollup->swap < p->value[COUNTER_SWAP] ||
	     values->value[COUNTER_SWAP_PSS] > p->value[COUNTER_SWAP]))
		return false;
	return p->pss_source != PSS_FROM_KERNEL ||
	       (near(p, values, COUNTER_PSS) && near(p, values, COUNTER_USS));
}

static bool is_share(const struct compare_cell *cell)
{
	return counter_table[cell->counter].policy == POLICY_SHARE;
}

void compare_verify_begin(struct compare_row *row)
{
	for (size_t i = 0; i < row->count; i++) {
		if (is_share(&row->cell[i]) && row->process->pss_source != PSS_FROM_KERNEL)
			row->cell[i].left_out = row->cell[i].settled = true;
	}
}

/* A reading in which the kernel's walk of pages did not add up says nothing of PSS. */
static bool reading_agrees(const struct compare_row *row, const struct process *reading,
			   const struct verify_rollup *rollup)
{
	return (row->process->pss_source != PSS_FROM_KERNEL ||
		reading->pss_source == PSS_FROM_KERNEL) &&
	       compare_agrees(reading, rollup);
}

const struct compare_cell *compare_verify_cell(const struct compare_row *row)
{
	const struct compare_cell *found = NULL;

	for (size_t i = 0; i < row->count; i++) {
		const struct compare_cell *cell = &row->cell[i];

		if (cell->left_out || !cell->settled || cell->verdict != COMPARE_DIFFERENT)
			continue;
		if (!found || cell->counter == COUNTER_PSS)
			found = cell;
	}
	return found;
}

bool compare_verify(struct compare_row *row, const struct compare_seen *seen,
		    const struct verify_rollup *rollup, unsigned round)
{
	if (!seen->bpf_before || !seen->bpf_after || !seen->rollup) {
		row->gone = true;
		compare_settle(row, COMPARE_GONE);
		return true;
	}
	if (reading_agrees(row, seen->bpf_before, rollup) ||
	    reading_agrees(row, seen->bpf_after, rollup)) {
		row->agrees = true;
		compare_settle(row, COMPARE_SAME);
		return true;
	}
	compare_judge(row, seen, round);
	return seen->stale || round >= COMPARE_ROUNDS || compare_verify_cell(row);
}

enum compare_verdict compare_verify_verdict(const struct compare_row *row)
{
	if (row->gone)
		return COMPARE_GONE;
	if (row->agrees)
		return COMPARE_SAME;
	return compare_verify_cell(row) ? COMPARE_DIFFERENT : COMPARE_MOVED;
}
