// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Judges a comparison: which values agree, which moved, which differ. */
#include "check/compare.h"

#include <errno.h>
#include <stdlib.h>

/* A difference counts after so many rounds in which it was the same and nothing else moved. */
#define ROUNDS_ALIKE 6

static enum compare_policy policy_of(const struct compare_cell *cell)
{
	return counter_table[cell->counter].policy;
}

static bool is_share(const struct compare_cell *cell)
{
	return policy_of(cell) == POLICY_SHARE;
}

/* True if the cell is compared with smaps_rollup, false if with status. */
static bool by_rollup(const struct compare_cell *cell)
{
	return policy_of(cell) == POLICY_ROLLUP || is_share(cell);
}

/* ---- rows ---- */

int comparison_init(struct comparison *c, struct process *const *process, size_t count,
		    counter_mask wanted)
{
	uint8_t counter[COUNTERS_OF_PROCESS];
	struct compare_cell *cell;
	size_t each = 0;

	*c = (struct comparison){};
	for (int i = 0; i < COUNTERS_OF_PROCESS; i++) {
		if ((wanted & COUNTER_BIT(i)) && counter_table[i].policy != POLICY_NONE)
			counter[each++] = (uint8_t)i;
	}
	c->row = calloc(count + 1, sizeof(*c->row));
	/* The first row owns one allocation for the cells of all rows. */
	cell = calloc(count * each + 1, sizeof(*cell));
	if (!c->row || !cell) {
		free(cell);
		return -ENOMEM;
	}
	c->row[0].cell = cell;
	c->count = count;
	for (size_t i = 0; i < count; i++) {
		c->row[i] = (struct compare_row){
			.process = process[i], .cell = cell + i * each, .count = each};
		for (size_t k = 0; k < each; k++)
			c->row[i].cell[k].counter = counter[k];
	}
	return 0;
}

void comparison_done(struct comparison *c)
{
	if (c->row)
		free(c->row[0].cell);
	free(c->row);
	*c = (struct comparison){};
}

uint64_t compare_bound_per_cpu(unsigned cpus, uint32_t page_size)
{
	uint64_t batch = cpus > 16 ? 2 * (uint64_t)cpus : 32;

	return (batch - 1) * cpus * page_size;
}

uint64_t compare_bound_per_thread(uint32_t page_size)
{
	return (uint64_t)65 * 16 * page_size;
}

/* ---- one cell ---- */

static void set_verdict(struct compare_cell *cell, enum compare_verdict verdict)
{
	cell->verdict = (uint8_t)verdict;
	cell->settled = true;
}

static enum compare_verdict verdict_of(enum pss_status status)
{
	switch (status) {
	case PSS_DENIED:
		return COMPARE_DENIED;
	case PSS_TIMEOUT:
		return COMPARE_TIMEOUT;
	default:
		return COMPARE_GONE;
	}
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static bool between(uint64_t v, uint64_t a, uint64_t b)
{
	return a < b ? a <= v && v <= b : b <= v && v <= a;
}

/* The result of one cell in one round. */
enum outcome {
	FITS,
	BRACKETED,
	IN_FLUX,   /* it does not fit, but something moved */
	DISAGREES, /* nothing moved */
};

static void set_values(struct compare_cell *cell, uint64_t bpf, uint64_t before, uint64_t after)
{
	cell->bpf = bpf;
	cell->proc_before = before;
	cell->proc_after = after;
	cell->bpf_known = cell->proc_known = true;
}

/* Status, BPF, status. */
static enum outcome judge_status(struct compare_cell *cell, const struct compare_seen *seen)
{
	enum counter c = cell->counter;
	uint64_t bpf = seen->bpf_before->value[c], again = seen->bpf_after->value[c];
	uint64_t before = seen->status_before->value[c], after = seen->status_after->value[c];

	set_values(cell, bpf, before, after);
	if (bpf == before && bpf == after)
		return FITS;
	if (between(bpf, before, after))
		return BRACKETED;
	return before == after && bpf == again ? DISAGREES : IN_FLUX;
}

/* BPF, smaps_rollup, BPF. */
static enum outcome judge_rollup(struct compare_cell *cell, const struct compare_seen *seen)
{
	enum counter c = cell->counter;
	uint64_t proc = seen->rollup->value[c];
	uint64_t first = seen->bpf_before->value[c], second = seen->bpf_after->value[c];
	uint64_t nearest = distance(first, proc) <= distance(second, proc) ? first : second;
	bool shares = is_share(cell);

	set_values(cell, nearest, proc, proc);
	if (distance(nearest, proc) <= (shares ? COMPARE_SHARE_TOLERANCE : 0))
		return FITS;
	if (between(proc, first, second))
		return BRACKETED;
	if (first != second || seen->bpf_before->in_flux || seen->bpf_after->in_flux)
		return IN_FLUX;
	return seen->undisturbed || !shares ? DISAGREES : IN_FLUX;
}

/* Counts how often in a row the difference was the same. */
static void count_alike(struct compare_cell *cell, const struct compare_cell *last)
{
	bool same = last->alike && cell->bpf == last->bpf && cell->proc_before == last->proc_before;

	cell->alike = same ? last->alike + 1 : 1;
}

static void judge_cell(struct compare_cell *cell, const struct compare_seen *seen, unsigned round,
		       bool execed)
{
	const struct compare_cell last = *cell;
	enum outcome outcome =
		by_rollup(cell) ? judge_rollup(cell, seen) : judge_status(cell, seen);

	if (outcome == DISAGREES && execed)
		outcome = IN_FLUX;
	switch (outcome) {
	case FITS:
		set_verdict(cell, round == 1 ? COMPARE_SAME : COMPARE_MOVED);
		break;
	case BRACKETED:
		set_verdict(cell, COMPARE_MOVED);
		break;
	case IN_FLUX:
		cell->alike = 0;
		break;
	case DISAGREES:
		count_alike(cell, &last);
		if (cell->alike >= ROUNDS_ALIKE)
			set_verdict(cell, COMPARE_DIFFERENT);
		break;
	}
	if (!cell->settled && round >= COMPARE_ROUNDS)
		set_verdict(cell, COMPARE_MOVED);
}

static bool has(const struct process *p, enum counter c)
{
	return p && process_has(p, c);
}

/* True if a side that was read lacks this value, and so will lack it next time. */
static bool never_there(const struct compare_cell *cell, const struct compare_seen *seen,
			const struct process *proc, enum pss_status result)
{
	if (result == PSS_SKIPPED || result == PSS_UNSUPPORTED)
		return true;
	if (proc && !has(proc, cell->counter))
		return true;
	/* The kernel's walk of pages may add up the next time. */
	return seen->bpf_after && !has(seen->bpf_after, cell->counter) &&
	       (!by_rollup(cell) || seen->bpf_after->pss_source == PSS_FROM_KERNEL);
}

/* For a cell with a side that lacks it in this round. */
static void judge_missing(struct compare_cell *cell, const struct compare_seen *seen,
			  unsigned round)
{
	enum counter c = cell->counter;
	bool rollup = by_rollup(cell);
	enum pss_status result = rollup ? seen->rollup_result : seen->status_result;
	const struct process *proc = rollup ? seen->rollup : seen->status_after;

	cell->alike = 0;
	cell->proc_known = has(proc, c);
	cell->bpf_known = has(seen->bpf_after, c);
	if (cell->proc_known)
		cell->proc_before = cell->proc_after = proc->value[c];
	if (cell->bpf_known)
		cell->bpf = seen->bpf_after->value[c];
	if (never_there(cell, seen, proc, result))
		cell->left_out = cell->settled = true;
	else if (result != PSS_OK)
		set_verdict(cell, verdict_of(result));
	else if (round >= COMPARE_ROUNDS)
		set_verdict(cell, COMPARE_MOVED);
}

static bool is_whole(const struct compare_cell *cell, const struct compare_seen *seen)
{
	enum counter c = cell->counter;

	if (!has(seen->bpf_before, c) || !has(seen->bpf_after, c))
		return false;
	if (by_rollup(cell))
		return has(seen->rollup, c);
	return has(seen->status_before, c) && has(seen->status_after, c);
}

/* ---- rounds ---- */

/* True if the process became another program in this round, or since the last one. */
static bool has_execed(struct compare_row *row, const struct compare_seen *seen)
{
	uint64_t last = row->mm_key;

	if (!seen->bpf_before || !seen->bpf_after)
		return false;
	row->mm_key = seen->bpf_after->mm_key;
	return seen->bpf_before->mm_key != row->mm_key || (last && last != row->mm_key);
}

void compare_judge(struct compare_row *row, const struct compare_seen *seen, unsigned round)
{
	bool execed = has_execed(row, seen);

	row->execed |= execed;
	row->settled = true;
	for (size_t i = 0; i < row->count; i++) {
		struct compare_cell *cell = &row->cell[i];

		if (cell->settled)
			continue;
		if (is_whole(cell, seen))
			judge_cell(cell, seen, round, execed);
		else
			judge_missing(cell, seen, round);
		row->settled &= cell->settled;
	}
}

void compare_settle(struct compare_row *row, enum compare_verdict verdict)
{
	for (size_t i = 0; i < row->count; i++) {
		if (!row->cell[i].settled)
			set_verdict(&row->cell[i], verdict);
	}
	row->settled = true;
}

/* True if a value of status that lags behind explains the difference. */
static bool within_bound(const struct comparison *c, const struct compare_row *row,
			 const struct compare_cell *cell)
{
	uint64_t bound = c->bound * (c->per_thread ? row->process->threads : 1);
	int64_t difference;

	if (cell->verdict != COMPARE_DIFFERENT || policy_of(cell) != POLICY_PER_CPU ||
	    !compare_difference(cell, &difference))
		return false;
	return (uint64_t)llabs(difference) <= bound;
}

/* True if smaps_rollup has the same resident set as BPF. */
static bool referee_agrees(const struct compare_row *row)
{
	for (size_t i = 0; i < row->count; i++) {
		const struct compare_cell *cell = &row->cell[i];
		int64_t difference;

		if (cell->counter == COUNTER_RSS && !cell->left_out)
			return compare_difference(cell, &difference) && !difference;
	}
	return false;
}

void compare_finish(struct comparison *c, size_t referees)
{
	for (size_t i = 0; i < c->count && !c->approximate; i++) {
		const struct compare_row *row = &c->row[i];

		for (size_t k = 0; k < row->count; k++)
			c->approximate |= within_bound(c, row, &row->cell[k]) &&
					  (!referees || referee_agrees(row));
	}
	for (size_t i = 0; i < c->count && c->approximate; i++) {
		struct compare_row *row = &c->row[i];

		for (size_t k = 0; k < row->count; k++) {
			if (within_bound(c, row, &row->cell[k]))
				row->cell[k].verdict = COMPARE_APPROXIMATE;
		}
	}
}

/* ---- --verify ---- */

static bool is_near(const struct process *p, const struct process *rollup, enum counter c)
{
	return !process_has(p, c) || !process_has(rollup, c) ||
	       distance(p->value[c], rollup->value[c]) <= COMPARE_SHARE_TOLERANCE;
}

bool compare_agrees(const struct process *p, const struct process *values,
		    const struct smaps_rollup *rollup)
{
	if (rollup_has(rollup, SMAPS_RSS) && process_has(p, COUNTER_RSS) &&
	    rollup->value[SMAPS_RSS] != p->value[COUNTER_RSS])
		return false;
	if (rollup_has(rollup, SMAPS_SWAP) && rollup_has(rollup, SMAPS_SWAP_PSS) &&
	    process_has(values, COUNTER_SWAP_PSS) && process_has(p, COUNTER_SWAP) &&
	    (rollup->value[SMAPS_SWAP] < p->value[COUNTER_SWAP] ||
	     values->value[COUNTER_SWAP_PSS] > p->value[COUNTER_SWAP]))
		return false;
	return p->pss_source != PSS_FROM_KERNEL ||
	       (is_near(p, values, COUNTER_PSS) && is_near(p, values, COUNTER_USS));
}

void compare_verify_begin(struct compare_row *row)
{
	for (size_t i = 0; i < row->count; i++) {
		if (is_share(&row->cell[i]) && row->process->pss_source != PSS_FROM_KERNEL)
			row->cell[i].left_out = row->cell[i].settled = true;
	}
}

/* A reading with an inconsistent walk of pages has no PSS to compare. */
static bool reading_agrees(const struct compare_row *row, const struct process *reading,
			   const struct compare_seen *seen)
{
	return (row->process->pss_source != PSS_FROM_KERNEL ||
		reading->pss_source == PSS_FROM_KERNEL) &&
	       compare_agrees(reading, seen->rollup, seen->counters);
}

static bool differs(const struct compare_cell *cell)
{
	return !cell->left_out && cell->settled && cell->verdict == COMPARE_DIFFERENT;
}

const struct compare_cell *compare_verify_cell(const struct compare_row *row)
{
	const struct compare_cell *found = NULL;

	for (size_t i = 0; i < row->count; i++) {
		const struct compare_cell *cell = &row->cell[i];

		if (differs(cell) && (!found || cell->counter == COUNTER_PSS))
			found = cell;
	}
	return found;
}

bool compare_verify_pss_wrong(const struct compare_row *row)
{
	bool shares = false, others = false;

	for (size_t i = 0; i < row->count; i++) {
		shares |= differs(&row->cell[i]) && is_share(&row->cell[i]);
		others |= differs(&row->cell[i]) && row->cell[i].counter == COUNTER_RSS;
	}
	return shares && !others;
}

bool compare_verify(struct compare_row *row, const struct compare_seen *seen, unsigned round)
{
	if (!seen->bpf_before || !seen->bpf_after || !seen->rollup) {
		row->gone = true;
		compare_settle(row, COMPARE_GONE);
		return true;
	}
	if (reading_agrees(row, seen->bpf_before, seen) ||
	    reading_agrees(row, seen->bpf_after, seen)) {
		row->agrees = true;
		compare_settle(row, COMPARE_SAME);
		return true;
	}
	compare_judge(row, seen, round);
	return round >= COMPARE_ROUNDS || compare_verify_cell(row);
}

enum compare_verdict compare_verify_verdict(const struct compare_row *row)
{
	if (row->gone)
		return COMPARE_GONE;
	if (row->agrees)
		return COMPARE_SAME;
	return compare_verify_cell(row) ? COMPARE_DIFFERENT : COMPARE_MOVED;
}
