/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A unit test program: the tests of its file run in the order of the file. There is no list of
 * them, so that none is forgotten.
 */
#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/cleanup.h"

/* cmocka 2.0 has it under this name, and assert_in_range() is deprecated. */
#ifndef assert_uint_in_range
#define assert_uint_in_range assert_in_range
#endif

static struct CMUnitTest unit_test[100];
static size_t unit_test_count;

static inline void unit_test_add(struct CMUnitTest test)
{
	if (unit_test_count == ARRAY_SIZE(unit_test))
		abort();
	unit_test[unit_test_count++] = test;
}

/* setup() gives the test its `state`, teardown() ends it. */
#define TEST_WITH(name, setup, teardown)                                                           \
	static void test_##name(void **state);                                                     \
	__attribute__((constructor(1000 + __LINE__))) static void add_##name(void)                 \
	{                                                                                          \
		unit_test_add((struct CMUnitTest){"test_" #name, test_##name, setup, teardown});   \
	}                                                                                          \
	static void test_##name(__attribute__((unused)) void **state)

#define TEST(name) TEST_WITH(name, NULL, NULL)

/* A test of the struct fixture that the file's setup() makes and its teardown() ends. */
#define FIXTURE_TEST(name)                                                                         \
	static void with_##name(struct fixture *f);                                                \
	TEST_WITH(name, setup, teardown)                                                           \
	{                                                                                          \
		with_##name(*state);                                                               \
	}                                                                                          \
	static void with_##name(struct fixture *f)

struct fixture;

/* The end of a struct fixture that holds nothing. */
static inline void no_end(struct fixture *f)
{
	(void)f;
}

/* Makes the setup() and teardown() of a struct fixture, which is zeroed before and freed behind. */
#define FIXTURE(begin, end)                                                                        \
	static int setup(void **state)                                                             \
	{                                                                                          \
		struct fixture *f = calloc(1, sizeof(*f));                                         \
                                                                                                   \
		if (!f)                                                                            \
			return -1;                                                                 \
		*state = f;                                                                        \
		begin(f);                                                                          \
		return 0;                                                                          \
	}                                                                                          \
	static int teardown(void **state)                                                          \
	{                                                                                          \
		end(*state);                                                                       \
		free(*state);                                                                      \
		return 0;                                                                          \
	}

int main(void)
{
	if (!unit_test_count)
		return 1;
	/* Tables have local times. */
	setenv("TZ", "UTC0", 1);
	return _cmocka_run_group_tests("tests", unit_test, unit_test_count, NULL, NULL);
}

#endif
