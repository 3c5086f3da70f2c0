// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which classes of RAM changed between two censuses. */
#include "unit.h"

#include "model/ram_change.h"

#define GIB ((uint64_t)1 << 30)
#define MIB ((uint64_t)1 << 20)

struct fixture {
	struct ram before, after;
	struct ram_changes changes;
};

static void set(struct fixture *f, enum ram_class class, uint64_t before, uint64_t after)
{
	f->before.figure[class] = (struct ram_figure){.known = true, .bytes = before};
	f->after.figure[class] = (struct ram_figure){.known = true, .bytes = after};
}

static void begin(struct fixture *f)
{
	f->before = (struct ram){
		.method = RAM_EXACT, .known = true, .frames = 64 * GIB, .taken_ms = 1000};
	f->after = f->before;
	f->after.taken_ms = 61000;
	set(f, RAM_FREE, 40 * GIB, 36 * GIB);
	set(f, RAM_ANON, 10 * GIB, 11 * GIB);
	set(f, RAM_SLAB, GIB, 4 * GIB);
	set(f, RAM_VMALLOC, MIB, 2 * MIB);
	set(f, RAM_SHMEM, MIB, MIB);
	/* Known in one of them alone. */
	set(f, RAM_PERCPU, 0, GIB);
	f->before.figure[RAM_PERCPU].known = false;
}

FIXTURE(begin, no_end)

FIXTURE_TEST(largest_first)
{
	static const enum ram_class want[] = {RAM_FREE, RAM_SLAB, RAM_ANON, RAM_VMALLOC};

	ram_changes_make(&f->before, &f->after, &f->changes);
	assert_true(f->changes.known);
	assert_int_equal(f->changes.before_ms, 1000);
	assert_int_equal(f->changes.after_ms, 61000);
	assert_int_equal(f->changes.count, ARRAY_SIZE(want));
	for (size_t i = 0; i < ARRAY_SIZE(want); i++)
		assert_int_equal(f->changes.item[i].class, want[i]);
	assert_int_equal(ram_change_of(&f->changes.item[0]), -(int64_t)(4 * GIB));
	/* A thousandth of RAM is 65 MiB. */
	assert_int_equal(f->changes.large, 3);
}

/* A sample may err by more than the change. */
FIXTURE_TEST(errors)
{
	f->before.figure[RAM_SLAB].error = f->after.figure[RAM_SLAB].error = 3 * GIB / 2;
	ram_changes_make(&f->before, &f->after, &f->changes);
	assert_int_equal(f->changes.count, 4);
	assert_int_equal(f->changes.large, 1);
}

FIXTURE_TEST(no_census)
{
	ram_changes_make(NULL, &f->after, &f->changes);
	assert_false(f->changes.known);
	ram_changes_make(&f->before, NULL, &f->changes);
	assert_false(f->changes.known);
	ram_changes_make(&f->before, &f->before, &f->changes);
	assert_false(f->changes.known);
	f->after.method = RAM_COUNTERS;
	ram_changes_make(&f->before, &f->after, &f->changes);
	assert_false(f->changes.known);
}
