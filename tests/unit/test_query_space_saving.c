// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Space-Saving: few items are exact. fuzz_query_space_saving.c has the bounds of many. */
#include "unit.h"

#include "space_saving_has.h"

TEST(few)
{
	struct space_saving h;

	assert_int_equal(space_saving_init(&h, 4), 0);
	assert_true(space_saving_error(&h) == 0);
	assert_false(space_saving_has(&h, 1));
	space_saving_add(&h, 1, 10);
	space_saving_add(&h, 2, 5);
	space_saving_add(&h, 1, 1);
	space_saving_add(&h, 3, 0);
	space_saving_add(&h, 3, -1);
	assert_int_equal(h.count, 2);
	assert_true(space_saving_least(&h, 1) == 11 && space_saving_least(&h, 2) == 5);
	assert_true(space_saving_error(&h) == 0);
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
