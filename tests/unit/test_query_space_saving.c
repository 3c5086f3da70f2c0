// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Space-Saving: its bounds hold against exact sums for any items in any order. */
#include "unit.h"

#include "space_saving_has.h"

#define KEYS 500

struct exact {
	double weight[KEYS], sum;
};

static void add(struct space_saving *h, struct exact *e, size_t key, double weight)
{
	space_saving_add(h, key, weight);
	e->weight[key] += weight;
	e->sum += weight;
}

static void fade(struct space_saving *h, struct exact *e, double keep)
{
	space_saving_fade(h, keep);
	e->sum *= keep;
	for (size_t i = 0; i < KEYS; i++)
		e->weight[i] *= keep;
}

/* The promises of space_saving.h; `slack`: weight that decayed below 1. */
static void check_bounds(const struct space_saving *h, const struct exact *e, double slack)
{
	double tiny = e->sum * 1e-9 + slack;

	assert_true(h->count <= h->size);
	assert_true(space_saving_error(h) <= e->sum / (double)h->size + tiny);
	for (size_t i = 0; i < KEYS; i++) {
		if (space_saving_has(h, i))
			assert_true(space_saving_least(h, i) <= e->weight[i] + tiny);
		else
			assert_true(e->weight[i] <= space_saving_error(h) + tiny);
	}
	for (size_t i = 0; i < h->count; i++)
		assert_true(e->weight[h->slot[i].key] <= h->slot[i].weight + tiny);
}

TEST(few)
{
	struct space_saving h;
	struct exact e = {};

	assert_int_equal(space_saving_init(&h, 4), 0);
	assert_true(space_saving_error(&h) == 0);
	assert_false(space_saving_has(&h, 1));
	add(&h, &e, 1, 10);
	add(&h, &e, 2, 5);
	add(&h, &e, 1, 1);
	space_saving_add(&h, 3, 0);
	space_saving_add(&h, 3, -1);
	assert_int_equal(h.count, 2);
	assert_true(space_saving_least(&h, 1) == 11 && space_saving_least(&h, 2) == 5);
	check_bounds(&h, &e, 0);
	space_saving_done(&h);
}

TEST(takes_the_lightest)
{
	struct space_saving h;

	assert_int_equal(space_saving_init(&h, 2), 0);
	space_saving_add(&h, 1, 100);
	space_saving_add(&h, 2, 10);
	space_saving_add(&h, 3, 1);
	assert_true(space_saving_has(&h, 1) && space_saving_has(&h, 3) && !space_saving_has(&h, 2));
	/* At most 11, at least its own weight. */
	assert_true(space_saving_least(&h, 3) == 1);
	assert_true(space_saving_error(&h) == 11);
	space_saving_done(&h);
}

TEST(fades)
{
	struct space_saving h;

	assert_int_equal(space_saving_init(&h, 2), 0);
	space_saving_add(&h, 1, 100);
	space_saving_add(&h, 2, 3);
	space_saving_fade(&h, 0.25);
	assert_true(space_saving_least(&h, 1) == 25);
	assert_false(space_saving_has(&h, 2));
	assert_true(space_saving_error(&h) == 0);
	space_saving_fade(&h, 0);
	assert_int_equal(h.count, 0);
	space_saving_done(&h);
}

TEST(bounds)
{
	for (unsigned round = 0; round < 60; round++) {
		struct space_saving h;
		struct exact e = {};
		double slack = 0;

		srand(round);
		assert_int_equal(space_saving_init(&h, 1 + (size_t)rand() % 64), 0);
		for (int i = 0; i < 3000; i++) {
			size_t key = (size_t)(rand() % KEYS) * (size_t)(rand() % KEYS) / KEYS;

			add(&h, &e, key, rand() % 1000);
			if (rand() % 500 == 0) {
				double keep = (rand() % 101) / 100.0;

				fade(&h, &e, keep);
				slack = slack * keep + 1;
			}
		}
		check_bounds(&h, &e, slack);
		space_saving_done(&h);
	}
}

/* Pages of RAM in use, from the kernel. */
static long resident(void)
{
	cleanup_fclose FILE *f = fopen("/proc/self/statm", "re");
	long size, pages;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%ld %ld", &size, &pages), 2);
	return pages;
}

TEST(a_million)
{
	struct space_saving h;
	long before;

	assert_int_equal(space_saving_init(&h, 400), 0);
	for (uint64_t i = 0; i < 400; i++)
		space_saving_add(&h, i, 1e9);
	before = resident();
	for (uint64_t i = 0; i < 1000000; i++)
		space_saving_add(&h, 1000 + i, 1);
	assert_true(resident() - before < 256);
	assert_int_equal(h.count, 400);
	/* All items with weight are present, except those that a new item replaced. */
	for (uint64_t i = 0; i < 10; i++)
		space_saving_add(&h, i, 1e9);
	for (uint64_t i = 0; i < 10; i++)
		assert_true(space_saving_has(&h, i));
	space_saving_done(&h);
}
