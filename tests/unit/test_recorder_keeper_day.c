// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The line of a day of record --keep. */
#include "unit.h"

#include "recorder/keeper_day.h"

#define BEGAN UINT64_C(7000000)

/* What a day says that begins with `was` and ends with `now`. */
static void assert_day(const struct keeper_sums *was, const struct keeper_sums *now,
		       const char *want)
{
	struct keeper_day d = {};
	char text[KEEPER_DAY_TEXT] = "";

	assert_false(keeper_day_ends(&d, BEGAN, was, text));
	assert_true(keeper_day_ends(&d, BEGAN + KEEPER_DAY_US, now, text));
	assert_string_equal(text, want);
}

TEST(texts)
{
	const struct keeper_sums none = {}, was = {100, 5000000, 7, 6, 5, 4};

	assert_day(&none, &(struct keeper_sums){8640, 41249999},
		   "8640 snapshots, 41.2 MB written, nothing lost");
	/* What was lost before is not lost again. */
	assert_day(&was, &(struct keeper_sums){101, 5100000, 7, 6, 5, 4},
		   "1 snapshot, 0.1 MB written, nothing lost");
	assert_day(&was, &was, "0 snapshots, 0.0 MB written, nothing lost");
	assert_day(&was, &(struct keeper_sums){102, 5000000, 8, 6, 5, 4},
		   "2 snapshots, 0.0 MB written, 1 snapshot dropped");
	assert_day(&was, &(struct keeper_sums){102, 5000000, 7, 8, 5, 4},
		   "2 snapshots, 0.0 MB written, 2 snapshots failed");
	assert_day(&was, &(struct keeper_sums){102, 5000000, 7, 6, 6, 4},
		   "2 snapshots, 0.0 MB written, 1 kill only counted");
	assert_day(&was, &(struct keeper_sums){102, 5000000, 7, 6, 5, 5},
		   "2 snapshots, 0.0 MB written, 1 signal only counted");
	assert_day(&none, &(struct keeper_sums){8628, 41249999, 12, 1, 3, 2},
		   "8628 snapshots, 41.2 MB written, 12 snapshots dropped, 1 snapshot failed, "
		   "3 kills only counted, 2 signals only counted");
}

/* The longest line fits. */
TEST(longest)
{
	const struct keeper_sums none = {}, most = {UINT64_MAX, UINT64_MAX, UINT64_MAX,
						    UINT64_MAX, UINT64_MAX, UINT64_MAX};
	struct keeper_day d = {};
	char text[KEEPER_DAY_TEXT];
	size_t len;

	keeper_day_ends(&d, 0, &none, text);
	assert_true(keeper_day_ends(&d, KEEPER_DAY_US, &most, text));
	len = strlen(text);
	assert_true(len < KEEPER_DAY_TEXT - 1);
	assert_string_equal(text + len - strlen("signals only counted"), "signals only counted");
}

/* Once a day, from the first call on, and from the last line on. */
TEST(days)
{
	struct keeper_day d = {};
	struct keeper_sums sums = {};
	char text[KEEPER_DAY_TEXT];
	unsigned lines = 0;

	for (uint64_t hour = 0; hour <= 73; hour++) {
		bool over = keeper_day_ends(&d, BEGAN + hour * KEEPER_DAY_US / 24, &sums, text);

		assert_true(over == (hour && hour % 24 == 0));
		if (over)
			assert_string_equal(text, "240 snapshots, 0.0 MB written, nothing lost");
		lines += over;
		sums.snapshots += 10;
	}
	assert_int_equal(lines, 3);
	assert_false(keeper_day_ends(&d, BEGAN + 4 * KEEPER_DAY_US - 1, &sums, text));
	/* It woke up late. */
	assert_true(keeper_day_ends(&d, BEGAN + 5 * KEEPER_DAY_US - 1, &sums, text));
	assert_false(keeper_day_ends(&d, BEGAN + 5 * KEEPER_DAY_US, &sums, text));
}
