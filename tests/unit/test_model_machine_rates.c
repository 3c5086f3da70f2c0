// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What happens in the machine in a second, and the OOM kills of an hour. */
#include "unit.h"

#include "model/system.h"

#define SECOND 1000000
#define MINUTE (60 * 1000)
#define HOUR   (60 * MINUTE)
#define BEGIN  INT64_C(1767225600000)

/* ---- rates ---- */

static struct machine_totals totals(uint64_t read_us, uint64_t in, uint64_t out, uint64_t refaulted,
				    uint64_t scanned)
{
	return (struct machine_totals){true, read_us, {true, in, out}, refaulted, scanned};
}

static struct machine_rates rates(struct machine_totals before, struct machine_totals now)
{
	struct machine_rates made;

	memset(&made, 0xa5, sizeof(made));
	machine_rates_make(&before, &now, &made);
	return made;
}

static void assert_rates(struct machine_rates r, uint64_t in, uint64_t out, uint64_t refaulted,
			 uint64_t scanned)
{
	assert_true(r.known);
	assert_int_equal(r.swapped_in, in);
	assert_int_equal(r.swapped_out, out);
	assert_int_equal(r.refaulted, refaulted);
	assert_int_equal(r.scanned, scanned);
}

TEST(rates)
{
	const struct machine_totals before = totals(7 * SECOND, 1000, 2000, 3000, 4000);
	struct machine_totals now = totals(9 * SECOND, 1000, 2200, 3001, 4003);
	struct machine_rates r;

	/* One in two seconds is not none. */
	assert_rates(rates(before, now), 0, 100, 1, 2);
	now.read_us = 7 * SECOND + SECOND / 2;
	assert_rates(rates(before, now), 0, 400, 2, 6);
	/* A counter that went back: another boot, or a reading of another machine. */
	now.swapped.out = 1999;
	assert_rates(rates(before, now), 0, 0, 2, 6);
	/* No product overflows. */
	now = totals(7 * SECOND + SECOND / 10, UINT64_MAX / 16, UINT64_MAX, 3000, 4000);
	r = rates(before, now);
	assert_true(r.known);
	assert_int_equal(r.swapped_in, (UINT64_MAX / 16 - 1000) * 10);
}

TEST(rates_not_known)
{
	struct machine_totals before = totals(SECOND, 0, 0, 0, 0), now = before;
	struct machine_rates r;

	now.swapped.in = now.scanned = 4096;
	now.read_us += SECOND / 10 - 1;
	for (int i = 0; i < 4; i++) {
		r = rates(before, now);
		assert_false(r.known);
		assert_true(!r.swapped_in && !r.swapped_out && !r.refaulted && !r.scanned);
		/* It was read before; one of them was not read. */
		now.read_us = i ? 2 * SECOND : SECOND / 2;
		before.known = i == 1;
		now.known = i == 2;
	}
	before.known = now.known = true;
	assert_rates(rates(before, now), 4096, 0, 0, 4096);
}

/* ---- kills ---- */

/* A snapshot, `minutes` after the first one, of a machine that booted a day before it. */
static struct recent_kills add(struct kill_history *h, int64_t minutes, uint64_t count)
{
	struct recent_kills k;

	memset(&k, 0xa5, sizeof(k));
	kill_history_add(h, &(struct oom_kills){true, count}, BEGIN + minutes * MINUTE,
			 BEGIN - 24 * HOUR, &k);
	return k;
}

static void assert_kills(struct recent_kills k, bool known, uint64_t count, int64_t since_minutes)
{
	assert_int_equal(k.known, known);
	assert_int_equal(k.count, count);
	assert_int_equal(k.since_ms, since_minutes < 0 ? 0 : BEGIN + since_minutes * MINUTE);
}

/* A single snapshot knows nothing of earlier kills; a series knows its own. */
TEST(kills_of_a_series)
{
	struct kill_history h = {};
	struct recent_kills k;

	assert_kills(add(&h, 0, 7), false, 0, 0);
	assert_kills(add(&h, 1, 7), true, 0, 0);
	assert_kills(add(&h, 2, 9), true, 2, 0);
	assert_kills(add(&h, 30, 9), true, 2, 0);
	assert_kills(add(&h, 59, 10), true, 3, 0);
	assert_kills(add(&h, 60, 10), true, 3, 0);
	/* From now on it is the whole hour. */
	assert_kills(add(&h, 61, 10), true, 3, -1);
	assert_kills(add(&h, 62, 10), true, 3, -1);
	assert_kills(add(&h, 63, 10), true, 1, -1);
	assert_kills(add(&h, 200, 10), true, 0, -1);
	/* A moment without the count is left out. */
	memset(&k, 0xa5, sizeof(k));
	kill_history_add(&h, &(struct oom_kills){}, BEGIN + 201 * MINUTE, 0, &k);
	assert_kills(k, false, 0, -1);
	assert_kills(add(&h, 202, 12), true, 2, -1);
}

/* None since boot, or a boot in the hour: these are known at once. */
TEST(kills_since_boot)
{
	static const struct {
		uint64_t count;
		int64_t boot_ms;
		bool known;
	} cases[] = {
		{0, BEGIN - 24 * HOUR, true}, {0, 0, true},  {3, BEGIN - HOUR, true},
		{3, BEGIN - HOUR - 1, false}, {3, 0, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct kill_history h = {};
		struct recent_kills k;

		kill_history_add(&h, &(struct oom_kills){true, cases[i].count}, BEGIN,
				 cases[i].boot_ms, &k);
		if (k.known != cases[i].known || k.count != (k.known ? cases[i].count : 0))
			fail_msg("case %zu", i);
		/* Those of the series are added to them. */
		k = add(&h, 1, cases[i].count + 1);
		if (!k.known || k.count != (cases[i].known ? cases[i].count : 0) + 1)
			fail_msg("case %zu, later", i);
		/* The hour before the series is over. */
		k = add(&h, 60, cases[i].count + 1);
		assert_int_equal(k.count, (cases[i].known ? cases[i].count : 0) + 1);
		k = add(&h, 61, cases[i].count + 1);
		assert_int_equal(k.count, 1);
	}
}

/* What the recording knows of the hour before stays, until the series is an hour old. */
TEST(kills_of_a_recording)
{
	struct kill_history h = {.before = {.known = true,
					    .recorded = true,
					    .count = 5,
					    .unrecorded = 2,
					    .last_ms = BEGIN - 10 * MINUTE,
					    .name = "java",
					    .cgroup = "/a"}};
	struct recent_kills k = add(&h, 0, 100);

	assert_kills(k, true, 5, -1);
	assert_int_equal(k.unrecorded, 2);
	assert_int_equal(k.last_ms, BEGIN - 10 * MINUTE);
	assert_string_equal(k.name, "java");
	assert_string_equal(k.cgroup, "/a");
	k = add(&h, 1, 101);
	assert_kills(k, true, 6, -1);
	/* Its last one was more than an hour ago, if it has all of them. */
	k = add(&h, 51, 101);
	assert_kills(k, true, 6, -1);
	h.before.unrecorded = 0;
	k = add(&h, 50, 101);
	assert_kills(k, true, 6, -1);
	k = add(&h, 51, 101);
	assert_kills(k, true, 1, -1);
	assert_int_equal(k.last_ms, 0);
	assert_string_equal(k.name, "");
	assert_true(k.recorded);
	k = add(&h, 61, 101);
	assert_kills(k, true, 1, -1);
	k = add(&h, 62, 101);
	assert_kills(k, true, 0, -1);
	assert_true(k.recorded);
}

/* More than it keeps: none is lost, and all are forgotten. */
TEST(many_kills)
{
	struct kill_history h = {};
	int64_t minute;

	add(&h, 0, 0);
	for (minute = 1; minute <= 50; minute++)
		assert_kills(add(&h, minute, (uint64_t)minute * 2), true, (uint64_t)minute * 2, -1);
	assert_true(h.count <= KILLS_KEPT);
	assert_kills(add(&h, 55, 100), true, 100, -1);
	assert_kills(add(&h, 111, 100), true, 0, -1);
	/* A count that went back is another boot: a series of its own. */
	assert_kills(add(&h, 112, 3), false, 0, 112);
	assert_kills(add(&h, 113, 4), true, 1, 112);
	/* So is a time before its beginning. */
	assert_kills(add(&h, 50, 4), false, 0, 50);
	assert_kills(add(&h, 51, 5), true, 1, 50);
}
