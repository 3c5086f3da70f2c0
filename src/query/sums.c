// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Adds up rows, and keeps the memory of rows that are sums. */
#include "query/sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* The status of the first that has another than ok. */
static void add_status(struct sum *sum, const struct process *p)
{
	for (int v = 0; v < VALUE_KINDS; v++) {
		if (sum->status[v] == PSS_OK)
			sum->status[v] = process_status(p, (enum value_kind)v);
	}
	if (sum->pss_status == PSS_OK)
		sum->pss_status = p->pss_status;
}

/*
 * A row that counts with another one, or has no memory. If a sum has no other rows, it has their
 * statuses, and none of their memory, but what becomes free with them.
 */
static void add_uncounted(struct sum *sum, const struct process *p)
{
	if (sum->uncounted && sum->uncounted->pss_status != p->pss_status)
		sum->uncounted_differ = true;
	if (!sum->uncounted || sum->uncounted->kind != PROCESS_USER)
		sum->uncounted = p;
	if (process_has(p, COUNTER_FREED) &&
	    __builtin_add_overflow(sum->uncounted_freed, p->value[COUNTER_FREED],
				   &sum->uncounted_freed))
		sum->beyond |= COUNTER_BIT(COUNTER_FREED);
}

bool totals_counts(const struct process *p)
{
	bool no_memory =
		!p->have && (p->pss_status == PSS_KERNEL_THREAD || p->pss_status == PSS_GONE);

	return p->kind == PROCESS_SUM ? !no_memory
				      : p->kind == PROCESS_USER && (p->mm_owner || !p->mm_id);
}

static void add_value(struct sum *sum, int c, uint64_t value)
{
	uint64_t *total = &sum->totals.value[c];

	/* Nothing tells which hugetlb pages processes share: only one of them can have some. */
	if (c == COUNTER_HUGETLB && value && *total)
		sum->beyond |= COUNTER_BIT(c);
	if (__builtin_add_overflow(*total, value, total))
		sum->beyond |= COUNTER_BIT(c);
}

/* Adds a row, which may be a sum. */
static void sum_add_row(struct sum *sum, const struct row *r)
{
	const struct process *p = r->process;
	struct totals *t = &sum->totals;

	/* The row of a cgroup without processes has 0 for all that was not read. */
	if (!row_processes(r))
		return;
	t->processes += row_processes(r);
	if (!totals_counts(p)) {
		add_uncounted(sum, p);
		return;
	}
	sum->rows++;
	add_status(sum, p);
	sum->some |= p->have;
	sum->all &= p->have;
	sum->partial |= r->partial;
	if (p->kind == PROCESS_SUM)
		sum->beyond |= ~p->have & COUNTER_BIT(COUNTER_HUGETLB);
	if (process_has(p, COUNTER_PSS))
		sum->with_pss &= p->have;
	if (p->kind == PROCESS_SUM)
		t->pss_missing += r->pss_missing;
	else
		t->pss_missing += !process_has(p, COUNTER_PSS);
	for (int c = 0; c < COUNTERS_OF_PROCESS; c++) {
		if (process_has(p, c))
			add_value(sum, c, p->value[c]);
	}
	node_shares_add(&t->nodes, p->nodes);
	kernel_shares_add(&t->kernel, p->kernel);
}

void sum_add(struct sum *sum, const struct process *p)
{
	const struct row row = {.process = (struct process *)p};

	sum_add_row(sum, &row);
}

void sum_merge(struct sum *sum, const struct sum *more)
{
	sum->totals.processes += more->totals.processes;
	sum->totals.pss_missing += more->totals.pss_missing;
	sum->rows += more->rows;
	sum->some |= more->some;
	sum->all &= more->all;
	sum->partial |= more->partial;
	sum->with_pss &= more->with_pss;
	sum->beyond |= more->beyond;
	for (int v = 0; v < VALUE_KINDS; v++) {
		if (sum->status[v] == PSS_OK)
			sum->status[v] = more->status[v];
	}
	if (sum->pss_status == PSS_OK)
		sum->pss_status = more->pss_status;
	if (!sum->uncounted)
		sum->uncounted = more->uncounted;
	sum->uncounted_differ |= more->uncounted_differ;
	for (int c = 0; c < COUNTERS_OF_PROCESS; c++)
		add_value(sum, c, more->totals.value[c]);
	if (more->totals.nodes.count)
		node_shares_add(&sum->totals.nodes, &more->totals.nodes);
	kernel_shares_add(&sum->totals.kernel, &more->totals.kernel);
}

/*
 * Counters without a known sum. What becomes free with two rows is more than the sum of both: it
 * includes memory that only these two share.
 */
static counter_mask unknown_sums(const struct sum *sum)
{
	return sum->beyond | (!sum->is_group && sum->rows > 1 ? COUNTER_BIT(COUNTER_FREED) : 0);
}

/* A sum of rows that count with others: all of it is known if it is known of them. */
static void end_uncounted(const struct sum *sum, struct totals *ret_totals)
{
	const struct process *p = sum->uncounted;

	*ret_totals = sum->totals;
	ret_totals->pss_status = p->pss_status;
	ret_totals->for_all = !sum->uncounted_differ;
	ret_totals->have = p->kind == PROCESS_USER ? p->have & ~unknown_sums(sum) : 0;
	if (p->nodes)
		ret_totals->nodes = *p->nodes;
	for (uint32_t i = 0; i < ret_totals->nodes.count; i++)
		ret_totals->nodes.node[i].pss = 0;
	if (sum->is_group && ret_totals->have & COUNTER_BIT(COUNTER_FREED))
		ret_totals->value[COUNTER_FREED] = sum->uncounted_freed;
}

static void sum_end(const struct sum *sum, bool pruned, struct totals *ret_totals)
{
	const counter_mask beyond = unknown_sums(sum);
	struct totals t = sum->totals;
	bool any_pss = sum->some & COUNTER_BIT(COUNTER_PSS);
	counter_mask whole = pruned || !any_pss ? sum->all : sum->with_pss;

	if (!sum->rows && sum->uncounted) {
		end_uncounted(sum, ret_totals);
		return;
	}
	for (int c = 0; c < COUNTERS_OF_PROCESS; c++) {
		/* A sum of what is read on request is that of the processes that have it. */
		bool read = counter_table[c].origin != ORIGIN_KERNEL &&
			    !(COUNTER_BIT(c) & COUNTERS_OF_PAGES);
		/* A skipped counter may be known: without swap, SWAP_PSS is 0. */
		counter_mask known = read ? sum->some & whole : sum->some;

		/* The sum of nothing is 0. */
		if (known & ~beyond & COUNTER_BIT(c) || !t.processes)
			t.have |= COUNTER_BIT(c);
		else
			t.value[c] = 0;
	}
	if (t.nodes.count)
		t.have |= COUNTER_BIT(COUNTER_NODES);
	t.pss_status = sum->pss_status;
	t.partial = t.have & (sum->partial | (t.processes ? ~sum->all : 0));
	*ret_totals = t;
}

static void set_statuses(const struct sum *sum, struct process *p)
{
	const struct process *only = sum->rows ? NULL : sum->uncounted;

	for (int v = 0; v < VALUE_KINDS; v++)
		p->status[v] = only ? process_status(only, (enum value_kind)v) : sum->status[v];
	/* No columns of nodes were asked for, whatever rows there are. */
	if (!sum->totals.processes)
		p->status[VALUE_NODES] = PSS_SKIPPED;
}

void sum_row(const struct sum *sum, struct sum_parts *parts, struct row *r)
{
	struct process *p = r->process;
	struct totals t;

	sum_end(sum, false, &t);
	p->kind = PROCESS_SUM;
	p->have = t.have;
	p->pss_status = t.pss_status;
	memcpy(p->value, t.value, sizeof(p->value));
	p->nodes = NULL;
	if (t.nodes.count) {
		parts->nodes = t.nodes;
		p->nodes = &parts->nodes;
	}
	p->kernel = NULL;
	if (t.processes && t.have & COUNTER_BIT(COUNTER_KERNEL)) {
		parts->kernel = t.kernel;
		p->kernel = &parts->kernel;
	}
	set_statuses(sum, p);
	r->procs = (uint32_t)t.processes;
	r->pss_missing = (uint32_t)t.pss_missing;
	r->partial = t.partial;
}

void totals_sum(const struct row *rows, size_t count, bool pruned, struct totals *ret_totals)
{
	struct sum sum = SUM_EMPTY;

	for (size_t i = 0; i < count; i++)
		sum_add_row(&sum, &rows[i]);
	sum_end(&sum, pruned, ret_totals);
}

/* Items and nodes have the same capacity; tree.c makes the nodes. */
static int make_larger(struct sums *sums, size_t count)
{
	struct process *item = reallocarray(NULL, count, sizeof(*item));
	void *charged = item ? reallocarray(NULL, count, sizeof(*sums->charged)) : NULL;
	void *parts = charged ? reallocarray(NULL, count, sizeof(*sums->parts)) : NULL;

	if (!parts) {
		free(item);
		free(charged);
		return -ENOMEM;
	}
	free(sums->item);
	free(sums->charged);
	free(sums->parts);
	free(sums->node);
	sums->item = item;
	sums->charged = charged;
	sums->parts = parts;
	sums->node = NULL;
	sums->capacity = count;
	return 0;
}

int sums_reserve(struct sums *sums, size_t count)
{
	int r;

	if (room_is_idle(sums->capacity, count, &sums->idle))
		sums_done(sums);
	arena_clear(&sums->text);
	r = rows_reserve(&sums->rows, count);
	if (r == 0 && count >= sums->capacity)
		r = make_larger(sums, count + count / 4 + 1);
	return r;
}

void sums_done(struct sums *sums)
{
	rows_done(&sums->rows);
	process_list_done(&sums->sorted);
	free(sums->item);
	free(sums->charged);
	free(sums->parts);
	free(sums->node);
	arena_done(&sums->text);
	*sums = (struct sums){0};
}
