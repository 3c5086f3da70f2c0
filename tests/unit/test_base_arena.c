// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Memory that is given back all at once, and notes that own their text. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/arena.h"
#include "zmem/diag.h"

static void test_allocations_do_not_overlap(void **state)
{
	enum { COUNT = 3000 };
	struct arena a = {0};
	unsigned char *p[COUNT];

	(void)state;
	for (size_t i = 0; i < COUNT; i++) {
		p[i] = arena_alloc(&a, i % 500);
		assert_non_null(p[i]);
		assert_int_equal((uintptr_t)p[i] % 8, 0);
		memset(p[i], (int)(i & 0xff), i % 500);
	}
	for (size_t i = 0; i < COUNT; i++) {
		for (size_t k = 0; k < i % 500; k++)
			assert_int_equal(p[i][k], i & 0xff);
	}
	arena_done(&a);
	assert_null(a.block);
	arena_done(&a);
}

static void test_large_allocations(void **state)
{
	struct arena a = {0};
	char *small = arena_strndup(&a, "small", 5), *large;

	(void)state;
	large = arena_alloc(&a, 10 << 20);
	assert_non_null(large);
	memset(large, 'x', 10 << 20);
	assert_string_equal(small, "small");
	assert_null(arena_alloc(&a, SIZE_MAX));
	assert_null(arena_alloc(&a, SIZE_MAX / 2 + 1));
	assert_null(arena_strndup(&a, "", SIZE_MAX));
	assert_string_equal(arena_strndup(&a, "still", 5), "still");
	arena_done(&a);
}

static void test_strndup(void **state)
{
	struct arena a = {0};

	(void)state;
	assert_string_equal(arena_strndup(&a, "abcdef", 3), "abc");
	assert_string_equal(arena_strndup(&a, NULL, 0), "");
	assert_memory_equal(arena_strndup(&a, "a\0b", 3), "a\0b", 4);
	assert_ptr_not_equal(arena_alloc(&a, 0), arena_alloc(&a, 0));
	arena_done(&a);
}

/* A repeated collection of the same size ends up with one block that it uses again. */
static void test_clear_keeps_a_block(void **state)
{
	struct arena a = {0};
	struct arena_block *block = NULL;

	(void)state;
	arena_clear(&a);
	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < 20000; i++)
			assert_non_null(arena_alloc(&a, 40));
		if (round == 3)
			block = a.block;
		arena_clear(&a);
	}
	assert_non_null(block);
	assert_ptr_equal(a.block, block);
	arena_done(&a);
}

static void test_diag(void **state)
{
	struct diag d = {0};
	char *log = strdup("log");

	(void)state;
	/* Without a note the log is only freed. */
	diag_attach_log(&d, strdup("nobody's"));
	diag_add(&d, "first", -EPERM, "be root", "%s: %d", "bpf", 1);
	diag_attach_log(&d, log);
	diag_attach_log(&d, strdup("second"));
	assert_int_equal(d.count, 1);
	assert_string_equal(d.note[0].what, "first");
	assert_string_equal(d.note[0].why, "bpf: 1");
	assert_string_equal(d.note[0].todo, "be root");
	assert_int_equal(d.note[0].error, -EPERM);
	assert_ptr_equal(d.note[0].log, log);
	for (int i = 0; i < 2 * DIAG_NOTES; i++)
		diag_add(&d, "more", 0, NULL, "%d", i);
	assert_int_equal(d.count, DIAG_NOTES);
	assert_string_equal(d.note[DIAG_NOTES - 1].why, "14");
	diag_clear(&d);
	assert_int_equal(d.count, 0);
	diag_clear(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_allocations_do_not_overlap),
		cmocka_unit_test(test_large_allocations),
		cmocka_unit_test(test_strndup),
		cmocka_unit_test(test_clear_keeps_a_block),
		cmocka_unit_test(test_diag),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
