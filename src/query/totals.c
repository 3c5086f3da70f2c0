// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sums of rows. Knows what may be added to what; refuses to guess what was not measured. */
#include <string.h>

#include "query/sum.h"

/* Groups and processes of their own: of those who share an address space one carries it; what has
 * no memory adds none. */
bool totals_counts(const struct process *p)
{
	return p->kind == PROCESS_SUM || (p->kind == PROCESS_USER && (p->mm_owner || !p->mm_id));
}

static void add_value(struct sum *sum, int c, uint64_t value)
{
	uint64_t *total = &sum->totals.value[c];

	if (__builtin_add_overflow(*total, value, total))
		sum->beyond |= COUNTER_BIT(c);
}

/* Cgroups may lie in one another: what is of them has no sum. */
void sum_add(struct sum *sum, const struct process *p)
{
	struct totals *t = &sum->totals;

	t->processes += process_count(p);
	if (!totals_counts(p))
		return;
	sum->some |= p->have;
	sum->all &= p->have;
	if (process_has(p, COUNTER_PSS))
		sum->with_pss &= p->have;
	if (p->kind == PROCESS_SUM)
		t->pss_missing += p->pss_missing;
	else
		t->pss_missing += !process_has(p, COUNTER_PSS);
	for (int c = 0; c < COUNTERS_OF_PROCESS; c++) {
		if (process_has(p, c))
			add_value(sum, c, p->value[c]);
	}
}

void sum_merge(struct sum *sum, const struct sum *more)
{
	sum->totals.processes += more->totals.processes;
	sum->totals.pss_missing += more->totals.pss_missing;
	sum->some |= more->some;
	sum->all &= more->all;
	sum->with_pss &= more->with_pss;
	sum->beyond |= more->beyond;
	for (int c = 0; c < COUNTERS_OF_PROCESS; c++)
		add_value(sum, c, more->totals.value[c]);
}

static void sum_end(const struct sum *sum, bool pruned, struct totals *ret_totals)
{
	struct totals t = sum->totals;
	bool any_pss = sum->some & COUNTER_BIT(COUNTER_PSS);
	counter_mask whole = pruned || !any_pss ? sum->all : sum->with_pss;

	for (int c = 0; c < COUNTERS_OF_PROCESS; c++) {
		bool read = counter_table[c].origin != ORIGIN_KERNEL;
		/* What was skipped may be known all the same: no swap, no share of it. */
		counter_mask known = read ? sum->some & whole : sum->some;

		if (known & ~sum->beyond & COUNTER_BIT(c))
			t.have |= COUNTER_BIT(c);
		else
			t.value[c] = 0;
	}
	*ret_totals = t;
}

void sum_row(const struct sum *sum, struct process *p)
{
	struct totals t;

	sum_end(sum, false, &t);
	p->kind = PROCESS_SUM;
	p->procs = (uint32_t)t.processes;
	p->pss_missing = (uint32_t)t.pss_missing;
	p->have = t.have;
	memcpy(p->value, t.value, sizeof(p->value));
}

void totals_sum(struct process *const *rows, size_t count, bool pruned, struct totals *ret_totals)
{
	struct sum sum = SUM_EMPTY;

	for (size_t i = 0; i < count; i++)
		sum_add(&sum, rows[i]);
	sum_end(&sum, pruned, ret_totals);
}
