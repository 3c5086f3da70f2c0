// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What hurts a cgroup, whether it is near a limit, and what it holds. Its limits:
 * unit/test_enrich_memcg.
 */
#include "unit.h"

#include "model/memcg.h"

#define NONE UINT64_MAX
#define PAGE 4096

static void set(struct process *p, enum counter c, uint64_t value)
{
	if (value != NONE)
		process_set(p, c, value);
}

/* Page cache that was not used lately is free, but not while it is read back from the limit. */
TEST(nearest)
{
	static const struct {
		uint64_t refaults_s, hits_s, left;
	} cases[] = {{NONE, NONE, 60}, {9, NONE, 60}, {4, 1, 60},
		     {5, 0, 60},       {5, 1, 5},     {900, 9, 5}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct memcg m = {.path = "/a",
				  .current_known = true,
				  .current = 95 * PAGE,
				  .limit_known = true,
				  .limit = 100 * PAGE};
		struct memcg_limit nearest;

		memcg_set_detail(&m, COUNTER_MEM_WORKING_SET, 40 * PAGE);
		if (cases[i].refaults_s != NONE)
			memcg_set_detail(&m, COUNTER_REFAULTS_S, cases[i].refaults_s);
		if (cases[i].hits_s != NONE)
			memcg_set_detail(&m, COUNTER_LIMIT_HITS_S, cases[i].hits_s);
		assert_true(memcg_nearest(&m, 1, &m, PAGE, &nearest));
		if (nearest.left != cases[i].left * PAGE)
			fail_msg("case %zu", i);
	}
}

/* The limit of memory and swap counts where less is left of it, also that of a cgroup above. */
TEST(nearest_memsw)
{
	struct memcg m[] = {{.path = "/a", .current_known = true, .limit_known = true},
			    {.path = "/a/b", .current_known = true, .limit_known = true}};
	struct memcg_limit nearest;
	uint64_t limit, charged;

	for (size_t i = 0; i < ARRAY_SIZE(m); i++) {
		m[i].current = 20 * PAGE;
		m[i].limit = 100 * PAGE;
		memcg_set_detail(&m[i], COUNTER_MEM_WORKING_SET, 15 * PAGE);
		memcg_set_detail(&m[i], COUNTER_MEM_MEMSW_LIMIT, 150 * PAGE);
	}
	/* Without what is charged it is not looked at. */
	assert_true(memcg_nearest(m, 2, &m[1], PAGE, &nearest));
	assert_int_equal(nearest.limit, 100 * PAGE);
	assert_false(memcg_memsw(&m[0], NULL, &limit, &charged));
	memcg_set_detail(&m[0], COUNTER_MEM_MEMSW, 70 * PAGE);
	memcg_set_detail(&m[1], COUNTER_MEM_MEMSW, 69 * PAGE);
	/* Both have 85 left, of memory in the cgroup above. */
	assert_true(memcg_nearest(m, 2, &m[1], PAGE, &nearest));
	assert_true(nearest.limit == 100 * PAGE && nearest.left == 85 * PAGE && nearest.up == 1);
	memcg_set_detail(&m[0], COUNTER_MEM_MEMSW, 71 * PAGE);
	assert_true(memcg_nearest(m, 2, &m[1], PAGE, &nearest));
	assert_true(nearest.limit == 150 * PAGE && nearest.left == 84 * PAGE && nearest.up == 1);
	assert_false(memcg_memsw(&m[1], &m[0], &limit, &charged));
	/* Its own, lower one. */
	memcg_set_detail(&m[1], COUNTER_MEM_MEMSW_LIMIT, 147 * PAGE);
	assert_true(memcg_nearest(m, 2, &m[1], PAGE, &nearest));
	assert_true(nearest.limit == 147 * PAGE && nearest.left == 83 * PAGE && nearest.up == 0);
	assert_true(memcg_memsw(&m[1], &m[0], &limit, &charged));
	assert_true(limit == 147 * PAGE && charged == 69 * PAGE);
	/* An eighth of it is near. */
	memcg_set_detail(&m[1], COUNTER_MEM_MEMSW_LIMIT, 80 * PAGE);
	assert_false(memcg_is_near(&m[1]));
	memcg_set_detail(&m[1], COUNTER_MEM_MEMSW, 70 * PAGE);
	assert_true(memcg_is_near(&m[1]));
}

/* A cgroup above memory.high (100) is slowed, though no hit came between two readings. */
static void assert_slowed(uint64_t current, uint64_t hits, enum memcg_strain want)
{
	struct charges charged = {};
	struct process p = {.charged = &charged};
	uint32_t degree;

	process_set(&p, COUNTER_PSI_SOME_10, 1000);
	process_set(&p, COUNTER_MEM_HIGH, 100);
	process_set(&p, COUNTER_HIGH_HITS, hits);
	process_set(&p, COUNTER_HIGH_HITS_S, 0);
	process_set(&p, COUNTER_MEM_CURRENT, current);
	assert_int_equal(memcg_strain(&charged, PAGE, &degree), want);
}

TEST(strain)
{
	static const struct {
		uint64_t psi, refaults_s, high_s, hits_s, pages;
		enum memcg_strain want;
		uint32_t degree;
	} cases[] = {
		{NONE, NONE, NONE, NONE, 100, STRAIN_UNKNOWN, 0},
		{NONE, NONE, 9, 9, NONE, STRAIN_UNKNOWN, 0},
		{0, NONE, NONE, NONE, 100, STRAIN_NONE, 0},
		{999, 1000, 9, NONE, 100, STRAIN_NONE, 999},
		{1000, 0, 0, 9, 100, STRAIN_WAITS, 1000},
		{1000, NONE, NONE, NONE, 100, STRAIN_WAITS, 1000},
		{1000, 4, 0, 9, 100, STRAIN_WAITS, 1000},
		{1000, 5, 0, 0, 100, STRAIN_THRASHES, 1000},
		{1000, 50, 0, 0, 100, STRAIN_THRASHES, 5000},
		{9000, 5, 1, 9, 100, STRAIN_THROTTLED, 9000},
		/* At its limit the time does not matter. */
		{999, 5, 9, 1, 100, STRAIN_THRASHES, 999},
		{0, 5, 0, 1, 100, STRAIN_THRASHES, 500},
		{0, 4, 0, 1, 100, STRAIN_NONE, 0},
		{0, 5, 0, 0, 100, STRAIN_NONE, 0},
		/* Without PSI what is read back tells it. */
		{NONE, 0, NONE, NONE, 100, STRAIN_NONE, 0},
		{NONE, 4, NONE, 9, 100, STRAIN_NONE, 0},
		{NONE, 5, NONE, NONE, 100, STRAIN_THRASHES, 500},
		{NONE, 5, NONE, NONE, NONE, STRAIN_THRASHES, 10000},
		{NONE, 1000, NONE, NONE, 100, STRAIN_THRASHES, 10000},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct charges charged = {};
		struct process p = {.charged = &charged};
		uint32_t degree;

		set(&p, COUNTER_PSI_SOME_10, cases[i].psi);
		set(&p, COUNTER_REFAULTS_S, cases[i].refaults_s);
		set(&p, COUNTER_HIGH_HITS_S, cases[i].high_s);
		set(&p, COUNTER_LIMIT_HITS_S, cases[i].hits_s);
		if (cases[i].pages != NONE)
			process_set(&p, COUNTER_MEM_CURRENT, cases[i].pages * PAGE);
		if (memcg_strain(&charged, PAGE, &degree) != cases[i].want ||
		    degree != cases[i].degree)
			fail_msg("case %zu", i);
	}
	assert_slowed(101, 1, STRAIN_THROTTLED);
	assert_slowed(100, 1, STRAIN_WAITS);
	assert_slowed(101, 0, STRAIN_WAITS);
	assert_null(memcg_strain_name(STRAIN_UNKNOWN));
	assert_string_equal(memcg_strain_name(STRAIN_NONE), "none");
	assert_string_equal(memcg_strain_name(STRAIN_THROTTLED), "throttled");
}

/* Seven eighths of the limit, or of memory.high. */
TEST(is_near)
{
	static const struct {
		uint64_t current, limit, high;
		bool near;
	} cases[] = {
		{700, 800, NONE, true},
		{699, 800, NONE, false},
		{900, 800, NONE, true},
		{700, NONE, 800, true},
		{699, NONE, 800, false},
		{700, 900, 800, true},
		{700, 800, 900, true},
		{700, 900, 900, false},
		{NONE, 1, 1, false},
		{700, NONE, NONE, false},
		{700, NONE, 0, false},
		{0, 0, NONE, true},
		{1, UINT64_MAX - 1, UINT64_MAX - 1, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct memcg m = {.current_known = cases[i].current != NONE,
				  .current = cases[i].current,
				  .limit_known = cases[i].limit != NONE,
				  .limit = cases[i].limit};

		if (cases[i].high != NONE)
			memcg_set_detail(&m, COUNTER_MEM_HIGH, cases[i].high);
		if (memcg_is_near(&m) != cases[i].near)
			fail_msg("case %zu", i);
	}
}

TEST(holds)
{
	static const struct {
		const char *cgroup, *path;
		bool holds;
	} cases[] = {
		{"/a", "/a", true},	  {"/a", "/a/b", true},	     {"/a", "/ab", false},
		{"/a/b", "/a", false},	  {"/", "/", true},	     {"/", "/a/b", true},
		{"/a/b", "/a/b/c", true}, {"/a/b", "/a/c/b", false}, {"/a", "/", false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (cgroup_holds(cases[i].cgroup, cases[i].path) != cases[i].holds)
			fail_msg("case %zu", i);
}

/* Each member of a cgroup is one counter, and what is not known is none. */
TEST(charges)
{
	struct memcg m = {.path = "/a",
			  .current_known = true,
			  .current = 1,
			  .limit_known = true,
			  .limit = 2,
			  .max_known = true,
			  .max = 3,
			  .high_known = true,
			  .high = 4};
	struct charges charged = {};

	memcg_charges(&(struct memcg){.current = 7, .limit = 7, .max = 7, .high = 7}, &charged);
	assert_true(!charged.have);
	for (int c = COUNTER_MEM_HIGH; c < COUNTER_COUNT; c++) {
		if (c != COUNTER_LIMIT_HITS && c != COUNTER_HIGH_HITS && c % 2)
			memcg_set_detail(&m, (enum counter)c, 1000 + (uint64_t)c);
	}
	memcg_charges(&m, &charged);
	assert_int_equal(charge_value(&charged, COUNTER_MEM_CURRENT), 1);
	assert_int_equal(charge_value(&charged, COUNTER_MEM_LIMIT), 2);
	assert_int_equal(charge_value(&charged, COUNTER_LIMIT_HITS), 3);
	assert_int_equal(charge_value(&charged, COUNTER_HIGH_HITS), 4);
	for (int c = COUNTER_MEM_HIGH; c < COUNTER_COUNT; c++) {
		if (c == COUNTER_LIMIT_HITS || c == COUNTER_HIGH_HITS)
			continue;
		assert_int_equal(charges_have(&charged, (enum counter)c), c % 2);
		if (c % 2)
			assert_int_equal(charge_value(&charged, (enum counter)c), 1000 + c);
	}
	assert_true(charges_have(&charged, COUNTER_MEM_CURRENT));
}
