// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A difference counts only within one program: exec during a comparison. */
#include "unit.h"

#include "compare/compare.h"

/* One process; both kernel readings have the same PSS, smaps_rollup 2 MiB less. */
struct scene {
	struct process process, before, after, rollup;
	struct process *list[1];
	struct comparison comparison;
	struct compare_seen seen;
};

static void scene_init(struct scene *s)
{
	*s = (struct scene){.before = {.pss_source = PSS_FROM_KERNEL, .mm_key = 1}};
	process_set(&s->before, COUNTER_PSS, 2176350);
	s->after = s->before;
	process_set(&s->rollup, COUNTER_PSS, 78848);
	s->list[0] = &s->process;
	s->seen = (struct compare_seen){.bpf_before = &s->before,
					.bpf_after = &s->after,
					.rollup = &s->rollup,
					.rollup_result = PSS_OK,
					.undisturbed = true};
	assert_int_equal(comparison_init(&s->comparison, s->list, 1, COUNTER_BIT(COUNTER_PSS)), 0);
}

static void scene_done(struct scene *s)
{
	comparison_done(&s->comparison);
}

/*
 * Judges one more round, in which the process is program `before` and then `after`. True once
 * settled.
 */
static bool judge(struct scene *s, unsigned round, uint64_t before, uint64_t after)
{
	s->before.mm_key = before;
	s->after.mm_key = after;
	compare_judge(&s->comparison.row[0], &s->seen, round);
	return s->comparison.row[0].settled;
}

static int verdict(const struct scene *s)
{
	return s->comparison.row[0].cell[0].verdict;
}

TEST(no_exec)
{
	cleanup(scene_done) struct scene s;

	scene_init(&s);
	for (unsigned round = 1; round < 6; round++)
		assert_false(judge(&s, round, 1, 1));
	assert_true(judge(&s, 6, 1, 1));
	assert_int_equal(verdict(&s), COMPARE_DIFFERENT);
}

/* Equal before and after, with another program in between. */
TEST(exec_within)
{
	cleanup(scene_done) struct scene s;

	scene_init(&s);
	for (unsigned round = 1; round < COMPARE_ROUNDS; round++)
		assert_false(judge(&s, round, round, round + 1));
	assert_true(judge(&s, COMPARE_ROUNDS, 1, 2));
	assert_int_equal(verdict(&s), COMPARE_MOVED);
}

/* Each program differs five times, which is not enough. */
TEST(exec_between)
{
	cleanup(scene_done) struct scene s;

	scene_init(&s);
	for (unsigned round = 1; round < COMPARE_ROUNDS; round++)
		assert_false(judge(&s, round, 1 + round / 5, 1 + round / 5));
	assert_true(judge(&s, COMPARE_ROUNDS, 9, 9));
	assert_int_equal(verdict(&s), COMPARE_MOVED);
}

/* After one exec it differs six times; the round of the exec does not count. */
TEST(exec_once)
{
	cleanup(scene_done) struct scene s;

	scene_init(&s);
	for (unsigned round = 1; round < 5; round++)
		assert_false(judge(&s, round, 1, 1));
	assert_false(judge(&s, 5, 1, 2));
	for (unsigned round = 6; round < 11; round++)
		assert_false(judge(&s, round, 2, 2));
	assert_true(judge(&s, 11, 2, 2));
	assert_int_equal(verdict(&s), COMPARE_DIFFERENT);
}
