// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests of arenas and of diag notes. */
#include "unit.h"

#include "base/arena.h"
#include "base/diag.h"
#include "heap.h"

TEST(large_allocations)
{
	cleanup(arena_done) struct arena a = {0};
	char *small = arena_strndup(&a, "small", 5), *large;

	large = arena_alloc(&a, 10 << 20);
	assert_non_null(large);
	memset(large, 'x', 10 << 20);
	assert_string_equal(small, "small");
	assert_null(arena_alloc(&a, SIZE_MAX));
	assert_null(arena_alloc(&a, SIZE_MAX / 2 + 1));
	assert_null(arena_strndup(&a, "", SIZE_MAX));
	assert_string_equal(arena_strndup(&a, "still", 5), "still");
	assert_string_equal(arena_strndup(&a, "abcdef", 3), "abc");
	assert_string_equal(arena_strndup(&a, NULL, 0), "");
	assert_memory_equal(arena_strndup(&a, "a\0b", 3), "a\0b", 4);
	assert_ptr_not_equal(arena_alloc(&a, 0), arena_alloc(&a, 0));
	/* Memory that was in use before becomes zeros. */
	memset(arena_alloc(&a, 1000), 0xff, 1000);
	arena_clear(&a);
	large = arena_zalloc(&a, 10, 100);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(large[i], 0);
	assert_null(arena_zalloc(&a, SIZE_MAX / 2, 3));
}

/* Slowly growing allocations need few additional blocks. */
TEST(large_grows)
{
	cleanup(arena_done) struct arena a = {0};
	size_t before = heap_in_use();

	for (size_t i = 0; i < 100; i++) {
		assert_non_null(arena_alloc(&a, 40));
		assert_non_null(arena_alloc(&a, ((size_t)5 << 20) + (i << 16)));
		arena_clear(&a);
	}
	assert_true(heap_in_use() - before < (size_t)60 << 20);
}

static void alloc_and_release(struct arena *a)
{
	cleanup(arena_release) struct arena_mark mark = arena_mark(a);

	for (int i = 0; i < 20000; i++)
		memset(arena_alloc(mark.arena, 40), i, 40);
}

/* Earlier allocations stay valid; later ones reuse memory the second time. */
TEST(mark)
{
	cleanup(arena_done) struct arena a = {0};
	size_t before;
	char *kept;

	alloc_and_release(&a);
	assert_null(a.block);
	kept = arena_strndup(&a, "kept", 4);
	alloc_and_release(&a);
	assert_ptr_equal(arena_strndup(&a, "next", 4), kept + 8);
	before = heap_in_use();
	for (int i = 0; i < 50; i++)
		alloc_and_release(&a);
	assert_int_equal(heap_in_use(), before);
	assert_string_equal(kept, "kept");
	assert_string_equal(kept + 8, "next");
}

TEST(diag)
{
	struct diag d = {0};
	char *log = strdup("log");

	/* Without a note the log is only freed. */
	diag_attach_log(&d, strdup("unused"));
	diag_add(&d, "first", -EPERM, "be root", "%s: %d", "bpf", 1);
	diag_attach_log(&d, log);
	diag_attach_log(&d, strdup("second"));
	assert_int_equal(d.count, 1);
	assert_string_equal(d.note[0].subject, "first");
	assert_string_equal(d.note[0].reason, "bpf: 1");
	assert_string_equal(d.note[0].hint, "be root");
	assert_int_equal(d.note[0].error, -EPERM);
	assert_ptr_equal(d.note[0].log, log);
	for (int i = 0; i < 2 * DIAG_NOTES; i++)
		diag_add(&d, "more", 0, NULL, "%d", i);
	assert_int_equal(d.count, DIAG_NOTES);
	assert_string_equal(d.note[DIAG_NOTES - 1].reason, "14");
	/* Neither a log nor a removal of a note that is not stored changes a stored one. */
	diag_attach_log(&d, strdup("of a note without room"));
	assert_null(d.note[DIAG_NOTES - 1].log);
	diag_remove(&d);
	assert_int_equal(d.count, DIAG_NOTES);
	diag_clear(&d);
	assert_int_equal(d.count, 0);
	diag_remove(&d);
	assert_int_equal(d.count, 0);
	diag_clear(&d);
}
