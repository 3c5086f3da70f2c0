// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which functions of allocators are probed, and where. */
#include "unit.h"

#include "heap/allocators.h"
#include "zmem/grow.h"

static uint32_t number_of(const char *name)
{
	struct function_names names = allocator_names();
	uint32_t i = 0;

	while (strcmp(names.name[i], name) != 0)
		i++;
	return i;
}

/* A function without instructions that are known. */
static struct found_function found_at(const char *name, uint64_t vaddr)
{
	return (struct found_function){
		.i = number_of(name), .vaddr = vaddr, .size = 16, .spot = {.word = {14, 13, 12}}};
}

/* The part of a cookie for words of pt_regs. */
static uint64_t words(uint64_t block, uint64_t bytes, uint64_t count)
{
	return block << 8 | bytes << 12 | count << 16;
}

#define STEPPED ZMEM_HEAP_STEPPED

static const struct elf_facts facts = {.segments = 1, .segment = {{0x1000, 0x1000, 0x5000}}};

TEST(places)
{
	struct found_function found[] = {
		found_at("malloc", 0x5010),    found_at("cfree", 0x5020),
		found_at("free", 0x5020),      found_at("calloc", 0x5030),
		found_at("_Znwm", 0x5040),     found_at("realloc", 0x9000),
		found_at("je_malloc", 0x5050),
	};
	const char *not_probed[ALLOCATOR_THROWS_MAX];
	struct probe_place place[PROBES_MAX];

	/* One name of each function, none of operator new, and none outside of the code. */
	assert_int_equal(allocator_places(&facts, found, ARRAY_SIZE(found), place), 3);
	assert_int_equal(place[0].offset, 0x1010);
	assert_int_equal(place[0].cookie, ZMEM_HEAP_SIZE | STEPPED | words(15, 14, 15));
	assert_int_equal(place[1].offset, 0x1020);
	assert_int_equal(place[1].cookie, ZMEM_HEAP_FREE | STEPPED | words(14, 15, 15));
	assert_int_equal(place[2].cookie,
			 ZMEM_HEAP_PRODUCT | ZMEM_HEAP_CALLS | STEPPED | words(15, 13, 14));
	assert_int_equal(allocator_not_probed(found, ARRAY_SIZE(found), not_probed), 0);
	/* An allocator with its own operator new, which throws: the return is not probed. */
	found[1] = found_at("tc_malloc", 0x5010);
	found[2] = found_at("tc_free", 0x5020);
	found[5] = found_at("tc_new", 0x5040);
	assert_int_equal(allocator_places(&facts, found, ARRAY_SIZE(found), place), 3);
	assert_int_equal(place[1].cookie, ZMEM_HEAP_PRODUCT | STEPPED | words(15, 13, 14));
	assert_int_equal(place[2].offset, 0x1020);
	assert_int_equal(allocator_not_probed(found, ARRAY_SIZE(found), not_probed), 1);
	assert_string_equal(not_probed[0], "operator new(unsigned long)");
	/* The first function of the C library may call the second one. */
	found[1] = found_at("__libc_malloc", 0x5060);
	found[2] = found_at("__libc_free", 0x5070);
	assert_int_equal(allocator_places(&facts, found, ARRAY_SIZE(found), place), 4);
	assert_int_equal(place[0].cookie & 31, ZMEM_HEAP_SIZE | ZMEM_HEAP_CALLS);
	assert_int_equal(place[2].offset, 0x1060);
	assert_int_equal(place[2].cookie & 31, ZMEM_HEAP_SIZE | ZMEM_HEAP_CALLS);
	assert_int_equal(place[3].cookie & 31, ZMEM_HEAP_FREE);
	assert_true(allocator_is_wrapper("libheaptrack_preload.so"));
	assert_false(allocator_is_wrapper("libc.so.6"));
}

/* Behind the beginning, if all arguments are there and the return can be probed. */
TEST(spots)
{
	struct found_function found[] = {found_at("reallocarray", 0x5010),
					 found_at("free", 0x5020)};
	struct probe_place place[PROBES_MAX];

	found[0].spot = (struct probe_spot){7, {3, 2, 1}, SPOT_EMULATED};
	found[1].spot = (struct probe_spot){9, {5, 15, 15}, SPOT_EMULATED | SPOT_MOVED};
	assert_int_equal(allocator_places(&facts, found, 2, place), 2);
	assert_int_equal(place[0].offset, 0x1029);
	assert_int_equal(place[0].cookie, ZMEM_HEAP_FREE | words(5, 15, 15));
	assert_int_equal(place[1].offset, 0x1017);
	assert_int_equal(place[1].cookie, ZMEM_HEAP_REALLOCS | ZMEM_HEAP_CALLS | words(3, 1, 2));
	found[0].spot.flags |= SPOT_MOVED;
	found[1].spot.word[0] = SPOT_LOST;
	assert_int_equal(allocator_places(&facts, found, 2, place), 2);
	assert_int_equal(place[0].offset, 0x1020);
	assert_int_equal(place[1].offset, 0x1010);
	assert_true(place[0].cookie & place[1].cookie & STEPPED);
	found[0].spot = (struct probe_spot){7, {3, SPOT_LOST, 1}, SPOT_EMULATED};
	assert_int_equal(allocator_places(&facts, found, 1, place), 1);
	assert_int_equal(place[0].offset, 0x1010);
}

static void expect_allocator(const char *const *name, size_t count, const char *allocator,
			     size_t places)
{
	struct probe_place place[PROBES_MAX];
	struct found_function found[8];
	struct allocator got;

	for (size_t i = 0; i < count; i++)
		found[i] = found_at(name[i], 0x5010 + i * 16);
	allocator_recognise(found, count, &got);
	assert_string_equal(got.name, allocator);
	assert_string_equal(got.version, "");
	assert_int_equal(allocator_has_text(&got), strncmp(allocator, "jemalloc", 8) == 0);
	assert_int_equal(allocator_places(&facts, found, count, place), places);
}

#define ALLOCATOR(allocator, places, ...)                                                          \
	expect_allocator((const char *const[]){__VA_ARGS__},                                       \
			 sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), allocator,   \
			 places)

TEST(recognised)
{
	ALLOCATOR("an allocator", 2, "malloc", "free");
	ALLOCATOR("glibc", 4, "malloc", "free", "__libc_calloc", "__libc_free");
	ALLOCATOR("musl", 2, "malloc", "free", "__dls3");
	ALLOCATOR("musl", 2, "malloc", "free", "__libc_malloc_impl");
	ALLOCATOR("jemalloc", 4, "malloc", "free", "mallocx", "dallocx");
	ALLOCATOR("jemalloc", 2, "_rjem_mallocx", "_rjem_sdallocx");
	ALLOCATOR("jemalloc and glibc", 5, "je_malloc", "je_free", "malloc", "free",
		  "__libc_calloc");
	ALLOCATOR("tcmalloc", 2, "tc_malloc", "tc_free");
	ALLOCATOR("CPython", 2, "PyObject_Malloc", "PyObject_Free");
	/* Other functions of such a name: what allocates only, or frees only, is no allocator. */
	ALLOCATOR("an allocator", 0, "mi_free", "mi_free_size");
	ALLOCATOR("an allocator", 0, "tc_malloc", "tc_calloc", "_ZdlPv");
	ALLOCATOR("mimalloc", 2, "mi_malloc", "mi_free");
}
