// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which functions are found to pass memory on, by the stacks of a report. */
#include "unit.h"

#include "model/wrappers.h"

#define CALLERS_MOST 20
#define STACKS	     100
#define DEPTH	     8

enum frame {
	MALLOC,
	XALLOC,
	ZALLOC,
	REMEMBER,
	MAIN,
	START, /* of the C library */
	FIRST, /* callers */
	FRAMES = FIRST + CALLERS_MOST,
	LINE = FRAMES,
	OTHER_LINE,
	ALL,
};

struct fixture {
	struct growth_frame frame[ALL];
	char name[CALLERS_MOST][16];
	struct growth_stack stack[STACKS];
	uint32_t number[STACKS][DEPTH];
	struct growth growth;
};

static void begin(struct fixture *f)
{
	*f = (struct fixture){.growth = {.frame_count = ALL}};
	f->growth.frame = f->frame;
	f->growth.stack = f->stack;
	f->frame[MALLOC] = (struct growth_frame){"malloc", "libc.so.6", .allocator = true};
	f->frame[XALLOC] = (struct growth_frame){"own_alloc", "server"};
	f->frame[ZALLOC] = (struct growth_frame){"own_zalloc", "server"};
	f->frame[REMEMBER] = (struct growth_frame){"remember", "server"};
	f->frame[MAIN] = (struct growth_frame){"main", "server"};
	f->frame[START] = (struct growth_frame){"__libc_start", "libc.so.6", .allocator = true};
	for (uint32_t i = 0; i < CALLERS_MOST; i++) {
		snprintf(f->name[i], sizeof(f->name[i]), "work_%u", (unsigned)i);
		f->frame[FIRST + i] = (struct growth_frame){f->name[i], "server"};
	}
	for (uint32_t i = LINE; i <= OTHER_LINE; i++)
		f->frame[i] = (struct growth_frame){"own_alloc", "server", .source = "alloc.c",
						    .line = i, .function = XALLOC};
}

FIXTURE(begin, no_end)

/* The numbers end with START. */
static void add(struct fixture *f, uint64_t bytes, const uint32_t *number)
{
	struct growth_stack *s = &f->stack[f->growth.stacks];
	uint32_t *copy = f->number[f->growth.stacks++];

	*s = (struct growth_stack){.frame = copy, .gross = bytes};
	do
		copy[s->frames++] = *number;
	while (*number++ != START);
}

#define ADD(f, bytes, ...) add(f, bytes, (const uint32_t[]){__VA_ARGS__, START})

/* So many callers of a function. */
static void add_callers(struct fixture *f, uint32_t function, uint32_t callers, uint64_t bytes)
{
	for (uint32_t i = 0; i < callers; i++)
		ADD(f, bytes, MALLOC, function, FIRST + i, MAIN);
}

static void expect(struct fixture *f, uint32_t frame, bool wrapper)
{
	assert_int_equal(growth_find_wrappers(&f->growth), 0);
	assert_int_equal(f->frame[frame].wrapper, wrapper);
	assert_int_equal(f->frame[frame].allocator, wrapper);
	assert_false(f->frame[MAIN].allocator);
	for (uint32_t i = 0; i < CALLERS_MOST; i++)
		assert_false(f->frame[FIRST + i].allocator);
}

static const char *place_of(const struct fixture *f, size_t stack)
{
	size_t at;

	return growth_place(&f->growth, &f->stack[stack], &at)->name;
}

FIXTURE_TEST(own_allocator)
{
	add_callers(f, XALLOC, 8, 1000);
	expect(f, XALLOC, true);
	assert_string_equal(place_of(f, 0), "work_0");
}

/* As keep_block() of tests/support/growlab.c, and a function that three handlers call. */
FIXTURE_TEST(few_callers)
{
	add_callers(f, REMEMBER, 7, 1000);
	expect(f, REMEMBER, false);
	assert_string_equal(place_of(f, 0), "remember");
}

FIXTURE_TEST(one_caller_has_most)
{
	add_callers(f, REMEMBER, 12, 1000);
	ADD(f, 12001, MALLOC, REMEMBER, FIRST + 12, MAIN);
	expect(f, REMEMBER, false);
	f->stack[12].gross = 12000;
	expect(f, REMEMBER, true);
}

FIXTURE_TEST(callers_with_little)
{
	add_callers(f, REMEMBER, 3, 100000);
	for (uint32_t i = 3; i < 20; i++)
		ADD(f, 1000, MALLOC, REMEMBER, FIRST + i, MAIN);
	expect(f, REMEMBER, false);
}

/* It touches pages itself, or calls others that allocate. */
FIXTURE_TEST(more_than_passing_on)
{
	add_callers(f, REMEMBER, 10, 1000);
	ADD(f, 600, REMEMBER, FIRST, MAIN);
	ADD(f, 600, MALLOC, XALLOC, REMEMBER, FIRST + 1, MAIN);
	expect(f, REMEMBER, false);
	f->stack[10].gross = f->stack[11].gross = 500;
	expect(f, REMEMBER, true);
}

/* Most of what the inner one has comes from the outer one. */
FIXTURE_TEST(wrapper_of_wrapper)
{
	add_callers(f, XALLOC, 10, 1000);
	for (uint32_t i = 0; i < 20; i++)
		ADD(f, 2000, MALLOC, XALLOC, ZALLOC, FIRST + i, MAIN);
	expect(f, XALLOC, true);
	assert_true(f->frame[ZALLOC].wrapper);
	assert_string_equal(place_of(f, 29), "work_19");
}

/* The outer one is a function that keeps what it allocates. */
FIXTURE_TEST(leak_by_wrapper)
{
	add_callers(f, XALLOC, 20, 1000);
	for (uint32_t i = 0; i < 3; i++)
		ADD(f, 5000, MALLOC, XALLOC, REMEMBER, FIRST + i, MAIN);
	expect(f, XALLOC, true);
	assert_false(f->frame[REMEMBER].allocator);
	assert_string_equal(place_of(f, 20), "remember");
}

/* A stack ends at the wrapper: it stays the place there. */
FIXTURE_TEST(no_other_place)
{
	add_callers(f, XALLOC, 10, 1000);
	ADD(f, 500, MALLOC, XALLOC);
	expect(f, XALLOC, true);
	assert_string_equal(place_of(f, 10), "own_alloc");
	assert_string_equal(place_of(f, 9), "work_9");
}

/* It calls itself, and a function of a container is between it and its callers. */
FIXTURE_TEST(recursion)
{
	for (uint32_t i = 0; i < 8; i++)
		ADD(f, 1000, MALLOC, XALLOC, XALLOC, MALLOC, FIRST + i, MAIN);
	expect(f, XALLOC, true);
}

FIXTURE_TEST(without_names)
{
	add_callers(f, XALLOC, 10, 1000);
	f->frame[XALLOC].name = NULL;
	expect(f, XALLOC, false);
	f->frame[XALLOC].name = "own_alloc~";
	expect(f, XALLOC, false);
	begin(f);
	add_callers(f, XALLOC, 10, 1000);
	/* Of a script. */
	f->frame[XALLOC].module = NULL;
	expect(f, XALLOC, false);
	begin(f);
	add_callers(f, XALLOC, 10, 1000);
	for (uint32_t i = 0; i < 3; i++)
		f->frame[FIRST + i].name = NULL;
	expect(f, XALLOC, false);
}
