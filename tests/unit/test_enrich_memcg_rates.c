// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What happened to cgroups in a second, from two readings. */
#include "unit.h"

#include "enrich/memcg_rates.h"

#define SECOND UINT64_C(1000000)
#define NONE   UINT64_MAX

/* A cgroup, read after so many seconds, with refaults and hits of its limit. */
static struct memcg reading(const char *path, double seconds, uint64_t refaults, uint64_t max)
{
	struct memcg m = {.path = path,
			  .current_known = true,
			  .max_known = max != NONE,
			  .max = max,
			  .read_us = 1 + (uint64_t)(seconds * 1e6)};

	if (refaults != NONE)
		memcg_set_detail(&m, COUNTER_REFAULTS, refaults);
	return m;
}

static void assert_rate(const struct memcg *m, enum counter c, uint64_t want)
{
	uint64_t is = memcg_has(m, c) ? memcg_detail(m, c) : NONE;

	if (is != want)
		fail_msg("%s: %s is %lld and not %lld", m->path, counter_table[c].key,
			 (long long)is, (long long)want);
}

static void expect(struct memcg_rates *r, struct memcg m, uint64_t refaults, uint64_t hits)
{
	assert_int_equal(memcg_rates_update(r, &m, 1), 0);
	assert_rate(&m, COUNTER_REFAULTS_S, refaults);
	assert_rate(&m, COUNTER_LIMIT_HITS_S, hits);
	assert_rate(&m, COUNTER_HIGH_HITS_S, NONE);
}

TEST(two_readings)
{
	cleanup(memcg_rates_done) struct memcg_rates r = {};

	expect(&r, reading("/a", 0, 100, 7), NONE, NONE);
	expect(&r, reading("/a", 2, 300, 7), 100, 0);
	/* One in ten seconds is not none. */
	expect(&r, reading("/a", 12, 301, 8), 1, 1);
	/* Another reading of the same snapshot says the same. */
	expect(&r, reading("/a", 12.05, 901, 8), 1, 1);
	expect(&r, reading("/a", 13, 1301, 8), 1000, 0);
	/* What is not known in one of them. */
	expect(&r, reading("/a", 14, NONE, 9), NONE, 1);
	expect(&r, reading("/a", 15, 1301, NONE), NONE, NONE);
	/* Another cgroup with this path. */
	expect(&r, reading("/a", 16, 5, NONE), NONE, NONE);
	expect(&r, reading("/a", 17, UINT64_MAX - 1, NONE), UINT64_MAX - 6, NONE);
}

TEST(several)
{
	cleanup(memcg_rates_done) struct memcg_rates r = {};
	struct memcg first[] = {reading("/a", 0, 1, 1), reading("/a/b", 0, 1, 1),
				reading("/c", 0, 1, 1)};
	struct memcg some[] = {reading("/", 1, 1, 1), reading("/a/b", 1, 3, 1),
			       reading("/b", 1, 1, 1)};
	struct memcg all[] = {reading("/", 2, 2, 1), reading("/a", 2, 5, 1),
			      reading("/a/b", 2, 4, 1), reading("/b", 2, 1, 1),
			      reading("/c", 2, 2, 1)};
	static const uint64_t want[] = {1, 2, 1, 0, 1};
	struct memcg gone = {.path = "/a"};

	assert_int_equal(memcg_rates_update(&r, first, 3), 0);
	assert_int_equal(memcg_rates_update(&r, some, 3), 0);
	assert_rate(&some[0], COUNTER_REFAULTS_S, NONE);
	assert_rate(&some[1], COUNTER_REFAULTS_S, 2);
	assert_int_equal(memcg_rates_update(&r, NULL, 0), 0);
	/* Of cgroups that were not read in between, since they were read. */
	assert_int_equal(memcg_rates_update(&r, all, 5), 0);
	for (int i = 0; i < 5; i++)
		assert_rate(&all[i], COUNTER_REFAULTS_S, want[i]);
	/* A cgroup that is gone has no rates, and is not forgotten: it may not have been read. */
	assert_int_equal(memcg_rates_update(&r, &gone, 1), 0);
	assert_rate(&gone, COUNTER_REFAULTS_S, NONE);
	/* After ten minutes it is. */
	expect(&r, reading("/z", 700, 1, 1), NONE, NONE);
	expect(&r, reading("/a", 701, 9, 1), NONE, NONE);
}
