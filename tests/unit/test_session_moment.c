// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Moments as people type them: relative, a time of day, a date; in local time. */
#include "unit.h"

#include <time.h>

#include "session/moment.h"

#define END    1763781255500 /* 2025-11-22 03:14:15.5 UTC */

#define SECOND 1000
#define MINUTE (60 * SECOND)
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)

/* `lasts`: 0 for a moment without a duration. */
static void check(const char *text, int64_t first, int64_t lasts)
{
	struct moment got = {};

	if (moment_parse(text, &(struct moment_near){END, END, MOMENT_LATEST}, &got) < 0)
		fail_msg("%s: refused", text);
	assert_int_equal(got.first_ms, first);
	assert_int_equal(got.last_ms, lasts ? first + lasts - 1 : first);
}

TEST(moments)
{
	setenv("TZ", "UTC", 1);
	tzset();
	check("-10m", END - 600000, 0);
	check("-90", END - 90000, 0);
	check("-1.5h", END - 5400000, 0);
	check("-2d", END - 172800000, 0);
	check("03:14:15", 1763781255000, SECOND);
	/* The minute of the end has begun. */
	check("03:14", 1763781240000, MINUTE);
	check("03:13", 1763781180000, MINUTE);
	/* Yesterday. */
	check("03:14:16", 1763781256000 - DAY, SECOND);
	check("23:59", 1763769540000, MINUTE);
	check("2025-11-22T03:14", 1763781240000, MINUTE);
	check("2025-11-22 03:14:10", 1763781250000, SECOND);
	check("2025-11-21", 1763683200000, DAY);
	check("2025-11-21Z", 1763683200000, DAY);
	setenv("TZ", "EST5EDT", 1);
	tzset();
	check("22:14", 1763781240000, MINUTE);
	check("2025-11-22T03:14:15Z", 1763781255000, SECOND);
	check("2025-11-21T22:14:15", 1763781255000, SECOND);
	/* Daylight saving time: four hours; the days of its begin and end. */
	check("2025-07-01T00:00:00", 1751342400000, SECOND);
	check("2025-03-09", 1741496400000, DAY - HOUR);
	check("2025-11-02", 1762056000000, DAY + HOUR);
	/* The minute before the hour that is left out. */
	check("2025-03-09T01:59", 1741503540000, MINUTE);
}

#define NIGHT (END - END % DAY) /* 2025-11-22 00:00 UTC */

/* The end of a range: the first such time that is not over when the range begins. */
TEST(until)
{
	static const struct {
		const char *since, *until; /* asked at 03:14:15.5 */
		int64_t first, last;	   /* since midnight */
	} range[] = {
		/* It may be later than now. */
		{"03:07", "03:30", 187 * MINUTE, 210 * MINUTE},
		{"03:07", "03:07", 187 * MINUTE, 187 * MINUTE},
		{"03:07", "03:06", 187 * MINUTE, DAY + 186 * MINUTE},
		/* Yesterday's. */
		{"16:00", "16:30", 16 * HOUR - DAY, 990 * MINUTE - DAY},
		{"16:00", "03:30", 16 * HOUR - DAY, 210 * MINUTE},
		{"2025-11-20", "16:30", -2 * DAY, 990 * MINUTE - 2 * DAY},
		{"2025-11-20T17:00", "16:30", 17 * HOUR - 2 * DAY, 990 * MINUTE - DAY},
		{"2025-11-20", "2025-11-20", -2 * DAY, -DAY - MINUTE},
		{"-1h", "03:00", END - NIGHT - HOUR, 180 * MINUTE},
		{"-1h", "02:14", END - NIGHT - HOUR, 134 * MINUTE},
		{"-1h", "02:13", END - NIGHT - HOUR, DAY + 133 * MINUTE},
		{"-1h", "-10m", END - NIGHT - HOUR, END - NIGHT - 11 * MINUTE + 1},
	};

	setenv("TZ", "UTC", 1);
	tzset();
	for (size_t i = 0; i < ARRAY_SIZE(range); i++) {
		struct moment_near near = {END, END, MOMENT_LATEST};
		struct moment since = {}, until = {};

		assert_int_equal(moment_parse(range[i].since, &near, &since), 0);
		near.after_ms = since.first_ms;
		assert_int_equal(moment_parse(range[i].until, &near, &until), 0);
		if (since.first_ms != NIGHT + range[i].first ||
		    until.last_ms != NIGHT + range[i].last + MINUTE - 1)
			fail_msg("%s to %s: %lld to %lld", range[i].since, range[i].until,
				 (long long)(since.first_ms - NIGHT),
				 (long long)(until.last_ms - NIGHT));
	}
}

/* Of an hour that clocks show twice, the end is in the second one, if the range begins before. */
TEST(until_twice)
{
	const int64_t later = 1761442200000; /* 2025-10-26 02:30 CET */
	const struct {
		int64_t after, first, twin;
	} end[] = {
		{later - 2 * HOUR, later, HOUR},
		{later - HOUR, later, HOUR},
		{later - 10 * MINUTE, later, 0},
		{later + MINUTE, later + DAY, 0},
	};
	struct moment got = {};

	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	for (size_t i = 0; i < ARRAY_SIZE(end); i++) {
		assert_int_equal(moment_parse("02:30",
					      &(struct moment_near){.after_ms = end[i].after},
					      &got),
				 0);
		assert_int_equal(got.first_ms, end[i].first);
		assert_int_equal(got.twin_ms, end[i].twin);
	}
	/* The night in which clocks have no 02:30. */
	assert_int_equal(
		moment_parse("02:30", &(struct moment_near){.after_ms = 1743289200000}, &got), 0);
	assert_int_equal(got.first_ms, 1743298200000);
}

/* When summer time ends, clocks show an hour twice: it is the later one. */
static void check_twin(const char *zone, const char *text, int64_t end, int64_t first, int64_t twin)
{
	struct moment got = {};

	setenv("TZ", zone, 1);
	tzset();
	assert_int_equal(moment_parse(text, &(struct moment_near){end, end, MOMENT_LATEST}, &got),
			 0);
	assert_int_equal(got.first_ms, first);
	assert_int_equal(got.twin_ms, twin);
}

TEST(twice)
{
	static const char berlin[] = "CET-1CEST,M3.5.0,M10.5.0/3";
	const int64_t later = 1761442200000; /* 2025-10-26 02:30 CET */

	/* Whatever mktime() was asked before. */
	for (int i = 0; i < 2; i++) {
		check_twin(berlin, "2025-10-26T02:30", END, later, HOUR);
		check_twin(berlin, "2025-07-01T02:30", END, 1751329800000, 0);
		check_twin(berlin, "2025-10-26T02:30", END, later, HOUR);
	}
	check_twin(berlin, "2025-10-26T01:59", END, later - HOUR - 31 * MINUTE, 0);
	check_twin(berlin, "2025-10-26T03:00", END, later + 30 * MINUTE, 0);
	check_twin(berlin, "2025-10-26T00:30:00Z", END, later - HOUR, 0);
	check_twin(berlin, "2025-10-26", END, 1761429600000, 0);
	/* The second one has not begun. */
	check_twin(berlin, "02:30", later - 1, later - HOUR, 0);
	check_twin(berlin, "02:30", later, later, HOUR);
	/* Half an hour, and at midnight: a day begins once. */
	check_twin("LHST-10:30LHDT-11,M10.1.0,M4.1.0", "2025-04-06T01:45", END, 1743866100000,
		   HOUR / 2);
	check_twin("CST5CDT,M3.2.0/0,M11.1.0/1", "2025-11-02", END, 1762056000000, 0);
}

TEST(refused)
{
	static const char *const bad[] = {"",
					  "-",
					  "-m",
					  "-10x",
					  "10m",
					  "3:14",
					  "24:00",
					  "03:60",
					  "03:14:",
					  "03:14:60",
					  "03:14x",
					  "2025-13-01",
					  "2025-11-22T",
					  "2025-11-22T3",
					  "2025-11-22Zx",
					  "-99999999999d",
					  "now",
					  "2025-11-22T03:14:15ZZ"};
	struct moment got;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		if (moment_parse(bad[i], &(struct moment_near){END, END, MOMENT_LATEST}, &got) !=
			    -EINVAL ||
		    moment_parse(bad[i], &(struct moment_near){END, END, END}, &got) != -EINVAL)
			fail_msg("'%s': accepted", bad[i]);
	}
}
