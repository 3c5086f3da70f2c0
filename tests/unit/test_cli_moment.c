// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Moments as people type them: relative, a time of day, a date; in local time. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "base/array.h"
#include "cli/moment.h"

#define END 1763781255500 /* 2025-11-22 03:14:15.5 UTC */

static void check(const char *text, int64_t expected)
{
	int64_t got = 0;

	if (moment_parse(text, END, &got) < 0)
		fail_msg("%s: refused", text);
	assert_int_equal(got, expected);
}

static void test_moments(void **state)
{
	(void)state;
	setenv("TZ", "UTC", 1);
	tzset();
	check("-10m", END - 600000);
	check("-90", END - 90000);
	check("-1.5h", END - 5400000);
	check("-2d", END - 172800000);
	check("03:14:15", 1763781255999);
	/* The minute of the end has begun. */
	check("03:14", 1763781299999);
	check("03:13", 1763781239999);
	/* Yesterday. */
	check("03:14:16", 1763781256999 - 86400000);
	check("23:59", 1763769599999);
	check("2025-11-22T03:14", 1763781299999);
	check("2025-11-22 03:14:10", 1763781250999);
	check("2025-11-21", 1763769599999);
	setenv("TZ", "EST5EDT", 1);
	tzset();
	check("22:14", 1763781299999);
	check("2025-11-22T03:14:15Z", 1763781255999);
	check("2025-11-21T22:14:15", 1763781255999);
	/* Daylight saving time: four hours. */
	check("2025-07-01T00:00:00", 1751342400999);
}

static void test_refused(void **state)
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
	int64_t got = 7;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		if (moment_parse(bad[i], END, &got) != -EINVAL)
			fail_msg("'%s': accepted", bad[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moments),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
