// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests of sorting: any input comes out as from qsort(), and never in quadratic time. */
#include "unit.h"

#define ITEMS_MAX 5000

struct item {
	uint32_t key;
	uint32_t twin; /* follows the key */
};

static size_t compared;

static int compare(const void *pa, const void *pb, void *arg)
{
	const struct item *a = pa, *b = pb;

	assert_ptr_equal(arg, &compared);
	assert_int_equal(a->twin, ~a->key);
	assert_int_equal(b->twin, ~b->key);
	compared++;
	return (a->key > b->key) - (a->key < b->key);
}

static int compare_for_qsort(const void *pa, const void *pb)
{
	const struct item *a = pa, *b = pb;

	return (a->key > b->key) - (a->key < b->key);
}

static uint32_t key_of(int shape, size_t i, size_t count)
{
	switch (shape) {
	case 0:
		return (uint32_t)i;
	case 1:
		return (uint32_t)(count - i);
	case 2:
		return 7;
	case 3:
		return (uint32_t)(i % 3);
	case 4: /* an organ pipe */
		return (uint32_t)(i < count / 2 ? i : count - i);
	case 5: /* sorted except the last items */
		return (uint32_t)(i + 4 < count ? i : i % 5);
	default:
		return (uint32_t)random();
	}
}

static void check(int shape, size_t count)
{
	static struct item is[ITEMS_MAX], want[ITEMS_MAX];
	size_t most = 64, bits = 0;

	for (size_t i = 0; i < count; i++) {
		is[i].key = key_of(shape, i, count);
		is[i].twin = ~is[i].key;
		want[i] = is[i];
	}
	qsort(want, count, sizeof(*want), compare_for_qsort);
	compared = 0;
	sort_items(is, count, sizeof(*is), compare, &compared);
	assert_memory_equal(is, want, count * sizeof(*is));
	while (count >> bits)
		bits++;
	most += count * bits * 6;
	assert_true(compared <= most);
}

TEST(shapes)
{
	static const size_t counts[] = {0, 1, 2, 3, 11, 12, 13, 14, 50, 100, 255, 1000, ITEMS_MAX};

	srandom(1);
	for (int shape = 0; shape < 30; shape++) {
		for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
			check(shape, counts[i]);
	}
}

/*
 * An adversary that chooses the items while they are compared makes quicksort quadratic (McIlroy, A
 * Killer Adversary for Quicksort, 1999).
 */
static size_t killer_solid, killer_candidate, killer_value[ITEMS_MAX];

static int compare_killer(const void *pa, const void *pb, void *arg)
{
	size_t a = *(const size_t *)pa, b = *(const size_t *)pb, gas = ITEMS_MAX;

	(void)arg;
	compared++;
	if (killer_value[a] == gas && killer_value[b] == gas)
		killer_value[a == killer_candidate ? a : b] = killer_solid++;
	if (killer_value[a] == gas)
		killer_candidate = a;
	else if (killer_value[b] == gas)
		killer_candidate = b;
	return (killer_value[a] > killer_value[b]) - (killer_value[a] < killer_value[b]);
}

TEST(adversary)
{
	static size_t item[ITEMS_MAX];

	for (size_t i = 0; i < ITEMS_MAX; i++) {
		item[i] = i;
		killer_value[i] = ITEMS_MAX;
	}
	compared = 0;
	sort_items(item, ITEMS_MAX, sizeof(*item), compare_killer, NULL);
	for (size_t i = 1; i < ITEMS_MAX; i++)
		assert_true(killer_value[item[i - 1]] <= killer_value[item[i]]);
	assert_true(compared < 100 * ITEMS_MAX);
}
