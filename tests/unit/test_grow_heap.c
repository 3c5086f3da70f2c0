// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which functions of allocators are probed, and where. */
#include "unit.h"

#include "grow/allocators.h"
#include "zmem/grow.h"

static uint32_t number_of(const char *name)
{
	uint32_t i = 0;

	while (strcmp(allocator_name(i), name) != 0)
		i++;
	return i;
}

TEST(places)
{
	const struct elf_facts facts = {.segments = 1, .segment = {{0x1000, 0x1000, 0x5000}}};
	struct found_function found[] = {
		{.i = number_of("malloc"), .vaddr = 0x5010, .size = 16},
		{.i = number_of("cfree"), .vaddr = 0x5020, .size = 16},
		{.i = number_of("free"), .vaddr = 0x5020, .size = 16, .code = {0x48, 0x85, 0xff}},
		{.i = number_of("calloc"), .vaddr = 0x5030, .size = 16},
		{.i = number_of("_Znwm"), .vaddr = 0x5040, .size = 16},
		{.i = number_of("realloc"), .vaddr = 0x9000, .size = 16},
	};
	const char *not_probed[ALLOCATOR_THROWS_MAX];
	struct probe_place place[PROBES_MAX];

	/* One name of each function, none of operator new, and none outside of the code. */
	assert_int_equal(allocator_places(&facts, found, ARRAY_SIZE(found), place), 4);
	assert_int_equal(place[0].offset, 0x1010);
	assert_int_equal(place[0].cookie, ZMEM_HEAP_SIZE);
#if defined(__x86_64__)
	assert_int_equal(place[1].offset, 0x1023);
#endif
	assert_int_equal(place[1].cookie, ZMEM_HEAP_FREE);
	assert_int_equal(place[2].cookie, ZMEM_HEAP_PRODUCT | ZMEM_HEAP_CALLS);
	assert_int_equal(allocator_not_probed(found, ARRAY_SIZE(found), not_probed), 0);
	/* An allocator with its own operator new, which throws: the return is not probed. */
	found[1].i = number_of("mi_malloc");
	found[1].vaddr = 0x5010;
	assert_int_equal(allocator_places(&facts, found, ARRAY_SIZE(found), place), 3);
	assert_int_equal(place[2].cookie, ZMEM_HEAP_PRODUCT);
	assert_int_equal(allocator_not_probed(found, ARRAY_SIZE(found), not_probed), 1);
	assert_string_equal(not_probed[0], "operator new(unsigned long)");
	assert_true(allocator_is_wrapper("libheaptrack_preload.so"));
	assert_false(allocator_is_wrapper("libc.so.6"));
}
