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

	if (moment_parse(text, END, &got) < 0)
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

/* When summer time ends, clocks show an hour twice: it is the later one. */
static void check_twin(const char *zone, const char *text, int64_t end, int64_t first, int64_t twin)
{
	struct moment got = {};

	setenv("TZ", zone, 1);
	tzset();
	assert_int_equal(moment_parse(text, end, &got), 0);
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
		if (moment_parse(bad[i], END, &got) != -EINVAL)
			fail_msg("'%s': accepted", bad[i]);
	}
}
