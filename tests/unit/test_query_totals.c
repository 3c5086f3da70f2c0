// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sums: each address space once, missing values stay missing. */
#include "unit.h"

#include "query/sums.h"

static struct process process(uint64_t rss, uint64_t swap)
{
	struct process p = {0};

	process_set(&p, COUNTER_RSS, rss);
	process_set(&p, COUNTER_SWAP, swap);
	process_derive(&p);
	return p;
}

static void read_pss(struct process *p, uint64_t pss, uint64_t swap_pss)
{
	process_set(p, COUNTER_PSS, pss);
	process_set(p, COUNTER_SWAP_PSS, swap_pss);
	p->pss_status = PSS_OK;
	process_derive(p);
}

/* The sum of the processes that follow. */
#define SUM(pruned, ...)                                                                           \
	sum_of((struct process *[]){__VA_ARGS__},                                                  \
	       sizeof((struct process *[]){__VA_ARGS__}) / sizeof(struct process *), pruned)

static struct totals sum_of(struct process *const *processes, size_t count, bool pruned)
{
	cleanup(rows_done) struct rows rows = {};
	struct totals t;

	assert_int_equal(rows_of(&rows, processes, count), 0);
	/* A row that is a sum is one of a process here. */
	for (size_t i = 0; i < count; i++)
		rows.item[i].procs = 1;
	totals_sum(rows.item, count, pruned, &t);
	return t;
}

static bool has(const struct totals *t, enum counter c)
{
	return t->have & COUNTER_BIT(c);
}

static bool is_partial(const struct totals *t, enum counter c)
{
	return t->partial & COUNTER_BIT(c);
}

static void assert_total(const struct totals *t, enum counter c, uint64_t bytes)
{
	assert_true(has(t, c));
	assert_int_equal(t->value[c], bytes);
}

/* A sum beyond 64 bits: no total rather than a small one. Other totals stay. */
TEST(beyond)
{
	struct process a = process(UINT64_MAX, 1), b = process(2, 2), c = process(1ull << 53, 3);
	struct totals t = SUM(false, &a, &b, &c);

	assert_false(has(&t, COUNTER_RSS));
	assert_int_equal(t.value[COUNTER_RSS], 0);
	assert_total(&t, COUNTER_SWAP, 6);
	t = SUM(false, &b, &c);
	assert_total(&t, COUNTER_RSS, (1ull << 53) + 2);
	/* A sum of absurd values could be small. */
	a = process(1ull << 63, 1);
	b = process(1ull << 63, 2);
	t = SUM(false, &a, &b);
	assert_false(has(&t, COUNTER_RSS));
	assert_int_equal(t.value[COUNTER_RSS], 0);
	t = SUM(false, &a, &b, &c);
	assert_false(has(&t, COUNTER_RSS));
	assert_int_equal(t.value[COUNTER_RSS], 0);
}

/* A sum of what is read on request is that of the processes that have it, and says so. */
TEST(pages)
{
	struct node_shares two = {2, {{0, 100}, {3, 7}}}, more = {2, {{0, 1}, {3, 2}}};
	struct process a = process(1, 1), b = process(2, 2), none = process(3, 3);
	struct totals t = SUM(false, &none);
	const counter_mask nodes = COUNTER_BIT(COUNTER_NODES);

	assert_false(t.have & nodes);
	assert_false(has(&t, COUNTER_LAZYFREE));
	a.nodes = &two;
	b.nodes = &more;
	a.have |= nodes;
	b.have |= nodes;
	process_set(&a, COUNTER_LAZYFREE, 4096);
	process_set(&b, COUNTER_LAZYFREE, 8192);
	t = SUM(false, &a, &b);
	assert_total(&t, COUNTER_LAZYFREE, 12288);
	assert_true(t.have & nodes);
	assert_false(t.partial & (nodes | COUNTER_BIT(COUNTER_LAZYFREE)));
	assert_int_equal(t.nodes.count, 2);
	assert_int_equal(t.nodes.node[0].pss, 101);
	assert_int_equal(t.nodes.node[1].node, 3);
	assert_int_equal(t.nodes.node[1].pss, 9);
	t = SUM(false, &none, &a, &b);
	assert_total(&t, COUNTER_LAZYFREE, 12288);
	assert_int_equal(t.nodes.node[0].pss, 101);
	assert_true(t.partial & nodes);
	assert_true(t.partial & COUNTER_BIT(COUNTER_LAZYFREE));
}

/* Processes may share their hugetlb pages: those of several have no sum. */
TEST(hugetlb)
{
	struct process a = process(1, 1), b = process(2, 2), none = process(3, 3),
		       group = process(4, 4);
	struct totals t;

	process_set(&a, COUNTER_HUGETLB, 200);
	process_set(&b, COUNTER_HUGETLB, 200);
	process_set(&none, COUNTER_HUGETLB, 0);
	t = SUM(false, &none, &a, &none);
	assert_total(&t, COUNTER_HUGETLB, 200);
	t = SUM(false, &none, &none);
	assert_total(&t, COUNTER_HUGETLB, 0);
	t = SUM(false, &a, &none, &b);
	assert_false(has(&t, COUNTER_HUGETLB));
	assert_int_equal(t.value[COUNTER_HUGETLB], 0);
	assert_total(&t, COUNTER_RSS, 6);
	/* Nor has a sum of sums that includes one without. */
	group.kind = PROCESS_SUM;
	t = SUM(false, &group, &a);
	assert_false(has(&t, COUNTER_HUGETLB));
	process_set(&group, COUNTER_HUGETLB, 0);
	t = SUM(false, &group, &a);
	assert_total(&t, COUNTER_HUGETLB, 200);
}

TEST(sums)
{
	struct process a = process(100, 0), b = process(50, 8), c = process(7, 0);
	struct totals t;

	read_pss(&a, 60, 0);
	read_pss(&b, 30, 4);
	c.pss_status = PSS_DENIED;
	t = SUM(false, &a, &b, &c);
	assert_int_equal(t.processes, 3);
	assert_int_equal(t.pss_missing, 1);
	assert_total(&t, COUNTER_RSS, 157);
	assert_total(&t, COUNTER_SWAP, 8);
	assert_total(&t, COUNTER_PSS, 90);
	assert_total(&t, COUNTER_SWAP_PSS, 4);
	assert_total(&t, COUNTER_PSS_SWAP, 94);
	assert_false(has(&t, COUNTER_USS));
	assert_false(has(&t, COUNTER_HUGETLB));
	/* One process lacks PSS: the sum is a lower bound. */
	assert_true(is_partial(&t, COUNTER_PSS));
	assert_false(is_partial(&t, COUNTER_RSS) || is_partial(&t, COUNTER_USS));
	t = SUM(false, &a, &b);
	assert_int_equal(t.partial, 0);
	assert_int_equal(t.value[COUNTER_HUGETLB], 0);
}

TEST(without_memory)
{
	struct process a = process(100, 4), k = process(5, 5), z = process(6, 6);
	struct totals t;

	read_pss(&a, 60, 2);
	k.kind = PROCESS_KTHREAD;
	z.kind = PROCESS_ZOMBIE;
	t = SUM(true, &a, &k, &z);
	assert_int_equal(t.processes, 3);
	assert_int_equal(t.pss_missing, 0);
	assert_total(&t, COUNTER_RSS, 100);
	assert_total(&t, COUNTER_SWAP, 4);
	assert_total(&t, COUNTER_SWAP_PSS, 2);
}

/*
 * If the shared swap of one process is unknown, the total is unknown; a process that only lacks PSS
 * does not matter.
 */
TEST(known_of_some)
{
	struct process a = process(100, 8), b = process(50, 8), c = process(7, 0);
	struct totals t;

	read_pss(&a, 60, 4);
	read_pss(&b, 30, 4);
	t = SUM(false, &a, &b, &c);
	assert_total(&t, COUNTER_SWAP_PSS, 8);
	assert_int_equal(t.pss_missing, 1);
	b.have &= ~(COUNTER_BIT(COUNTER_SWAP_PSS) | COUNTER_BIT(COUNTER_PSS_SWAP));
	t = SUM(false, &a, &b, &c);
	assert_false(has(&t, COUNTER_SWAP_PSS));
	assert_false(has(&t, COUNTER_PSS_SWAP));
	assert_total(&t, COUNTER_PSS, 90);
	assert_total(&t, COUNTER_SWAP, 16);
}

TEST(pruned)
{
	struct process a = process(100, 9), b = process(50, 0), c = process(7, 0);
	struct totals t;

	read_pss(&a, 60, 3);
	t = SUM(true, &a, &b, &c);
	assert_int_equal(t.pss_missing, 2);
	assert_total(&t, COUNTER_RSS, 157);
	assert_false(has(&t, COUNTER_PSS));
	assert_int_equal(t.value[COUNTER_PSS], 0);
	assert_false(has(&t, COUNTER_PSS_SWAP));
	/* The others have no swap: all their shares are known. */
	assert_total(&t, COUNTER_SWAP_PSS, 3);
	c = process(7, 1);
	t = SUM(true, &a, &b, &c);
	assert_false(has(&t, COUNTER_SWAP_PSS));
	t = SUM(false, &a, &b, &c);
	assert_total(&t, COUNTER_SWAP_PSS, 3);
}
