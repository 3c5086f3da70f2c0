// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Compares decimal_put() with printf. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/decimal.h"

static void check(uint64_t v)
{
	char got[DECIMAL_MAX + 2], want[DECIMAL_MAX + 2];
	size_t len;

	memset(got, '#', sizeof(got));
	len = decimal_put(got, v);
	snprintf(want, sizeof(want), "%" PRIu64, v);
	assert_true(len <= DECIMAL_MAX);
	assert_int_equal(got[len], '#');
	got[len] = '\0';
	assert_string_equal(got, want);
}

static void test_small(void **state)
{
	(void)state;
	for (uint64_t v = 0; v < 100000; v++)
		check(v);
}

static void test_every_length(void **state)
{
	uint64_t power = 1;

	(void)state;
	for (int digits = 1; digits <= DECIMAL_MAX; digits++, power *= 10) {
		check(power - 1);
		check(power);
		check(power + power / 7 + 1);
		check(power * 9 / 10 * 9);
	}
	check(UINT64_MAX);
	check(UINT64_MAX - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_every_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
