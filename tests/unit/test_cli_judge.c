// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What --verify calls the same, moved or different. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/pss_judge.h"

#define PAGE UINT64_C(4096)

/* Two equal readings of the kernel's, and a smaps_rollup of 512 pages less. */
struct scene {
	struct process row, before, after;
	struct pool_result rollup;
	struct pss_seen seen;
	struct pss_doubt doubt;
};

static void scene_init(struct scene *s)
{
	struct process counters = {.pid = 42, .pss_source = PSS_FROM_KERNEL, .mm_key = 1};
	struct smaps_rollup *r;

	process_set(&counters, COUNTER_RSS, 600 * PAGE);
	process_set(&counters, COUNTER_SWAP, 0);
	process_set(&counters, COUNTER_PSS, 531 * PAGE + 350);
	process_set(&counters, COUNTER_USS, 520 * PAGE);
	*s = (struct scene){.row = counters, .before = counters, .after = counters};
	r = &s->rollup.counters;
	s->rollup.status = PSS_OK;
	r->have = 1u << ROLLUP_RSS | 1u << ROLLUP_PSS | 1u << ROLLUP_PRIVATE_CLEAN |
		  1u << ROLLUP_PRIVATE_DIRTY;
	r->value[ROLLUP_RSS] = 88 * PAGE;
	r->value[ROLLUP_PSS] = 19 * PAGE;
	r->value[ROLLUP_PRIVATE_CLEAN] = 0;
	r->value[ROLLUP_PRIVATE_DIRTY] = 8 * PAGE;
	s->seen = (struct pss_seen){.row = &s->row,
				    .before = &s->before,
				    .after = &s->after,
				    .rollup = &s->rollup,
				    .quiet = true};
}

/* The verdict after so many more rounds; before, it moved. */
static enum pss_verdict rounds(struct scene *s, int count)
{
	for (int i = 1; i < count; i++)
		assert_int_equal(pss_judge(&s->seen, &s->doubt), PSS_VERDICT_MOVED);
	return pss_judge(&s->seen, &s->doubt);
}

static void test_different(void **state)
{
	struct scene s;

	(void)state;
	scene_init(&s);
	assert_int_equal(rounds(&s, 6), PSS_VERDICT_DIFFERENT);
	assert_false(s.doubt.execed);
	scene_init(&s);
	s.seen.quiet = false;
	assert_int_equal(rounds(&s, 100), PSS_VERDICT_MOVED);
	scene_init(&s);
	s.after.value[COUNTER_USS]++;
	assert_int_equal(rounds(&s, 100), PSS_VERDICT_MOVED);
	scene_init(&s);
	s.before.starting = true;
	assert_int_equal(rounds(&s, 100), PSS_VERDICT_MOVED);
	assert_false(s.doubt.execed);
}

static void test_same(void **state)
{
	struct scene s;

	(void)state;
	scene_init(&s);
	s.after = s.before;
	s.before.value[COUNTER_RSS] = s.rollup.counters.value[ROLLUP_RSS];
	s.before.value[COUNTER_PSS] = s.rollup.counters.value[ROLLUP_PSS] + 1024;
	s.before.value[COUNTER_USS] = 8 * PAGE;
	assert_int_equal(rounds(&s, 1), PSS_VERDICT_SAME);
	/* Also if it is another program by now: one of the two is the one that was read. */
	s.after.mm_key = 2;
	assert_int_equal(rounds(&s, 1), PSS_VERDICT_SAME);
	s.before.value[COUNTER_PSS]++;
	assert_int_equal(rounds(&s, 1), PSS_VERDICT_MOVED);
	s.seen.after = NULL;
	assert_int_equal(rounds(&s, 1), PSS_VERDICT_GONE);
}

/* Alike before and after, and it was another program in between. */
static void test_exec_within(void **state)
{
	struct scene s;

	(void)state;
	scene_init(&s);
	s.after.mm_key = 2;
	assert_int_equal(rounds(&s, 100), PSS_VERDICT_MOVED);
	assert_true(s.doubt.execed);
}

/* Differences of the program before do not count for the next one. */
static void test_exec_between(void **state)
{
	struct scene s;

	(void)state;
	scene_init(&s);
	assert_int_equal(rounds(&s, 5), PSS_VERDICT_MOVED);
	s.before.mm_key = s.after.mm_key = 2;
	assert_int_equal(rounds(&s, 5), PSS_VERDICT_MOVED);
	assert_true(s.doubt.execed);
	assert_int_equal(rounds(&s, 1), PSS_VERDICT_DIFFERENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_different),
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_exec_within),
		cmocka_unit_test(test_exec_between),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
