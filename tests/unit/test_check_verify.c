// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Verdicts of --verify: same, moved, different. */
#include "unit.h"

#include "check/compare.h"

#define PAGE UINT64_C(4096)

/* Two equal kernel readings, and a smaps_rollup of 512 pages less. */
struct scene {
	struct process process, before, after, status, rollup;
	struct process *subject;
	struct smaps_rollup read;
	struct compare_seen seen;
	struct comparison comparison;
	struct compare_row *row;
	unsigned round;
};

/* Ends the last scene and begins another one. */
static struct scene *begin(enum pss_source source)
{
	static struct scene scene;
	struct scene *s = &scene;
	struct process p = {.pid = 42, .pss_source = source, .mm_key = 1};

	comparison_done(&s->comparison);
	process_set(&p, COUNTER_RSS, 600 * PAGE);
	process_set(&p, COUNTER_SWAP, 0);
	process_set(&p, COUNTER_PSS, 531 * PAGE + 350);
	process_set(&p, COUNTER_USS, 520 * PAGE);
	*s = (struct scene){.process = p, .before = p, .after = p, .status = p};
	process_set(&s->rollup, COUNTER_RSS, 88 * PAGE);
	process_set(&s->rollup, COUNTER_PSS, 19 * PAGE);
	process_set(&s->rollup, COUNTER_USS, 8 * PAGE);
	s->read = (struct smaps_rollup){.have = 1U << SMAPS_RSS, .value[SMAPS_RSS] = 88 * PAGE};
	s->seen = (struct compare_seen){.status_before = &s->status,
					.status_after = &s->status,
					.bpf_before = &s->before,
					.bpf_after = &s->after,
					.rollup = &s->rollup,
					.counters = &s->read,
					.undisturbed = true};
	s->subject = &s->process;
	assert_int_equal(comparison_init(&s->comparison, &s->subject, 1, VERIFY_COUNTERS), 0);
	s->row = s->comparison.row;
	compare_verify_begin(s->row);
	return s;
}

/* Runs at most `count` rounds. Returns the verdict, _VERDICTS if the row is not done. */
static enum compare_verdict rounds(struct scene *s, int count)
{
	bool done = false;

	while (!done && count--)
		done = compare_verify(s->row, &s->seen, ++s->round);
	return done ? compare_verify_verdict(s->row) : COMPARE_VERDICTS;
}

TEST(different)
{
	struct scene *s = begin(PSS_FROM_KERNEL);

	assert_int_equal(rounds(s, 5), COMPARE_VERDICTS);
	assert_int_equal(rounds(s, 1), COMPARE_DIFFERENT);
	assert_false(s->row->execed);
	assert_int_equal(compare_verify_cell(s->row)->counter, COUNTER_PSS);
	assert_int_equal(compare_verify_cell(s->row)->bpf, 531 * PAGE + 350);
	assert_int_equal(compare_verify_cell(s->row)->proc_before, 19 * PAGE);
}

/* It is wrong if smaps_rollup has the same RSS; else smaps_rollup may leave pages out. */
TEST(pss_wrong)
{
	struct scene *s = begin(PSS_FROM_KERNEL);

	assert_int_equal(rounds(s, 100), COMPARE_DIFFERENT);
	assert_false(compare_verify_pss_wrong(s->row));
	s = begin(PSS_FROM_KERNEL);
	s->rollup.value[COUNTER_RSS] = s->read.value[SMAPS_RSS] = 600 * PAGE;
	assert_int_equal(rounds(s, 5), COMPARE_VERDICTS);
	assert_false(compare_verify_pss_wrong(s->row));
	assert_int_equal(rounds(s, 1), COMPARE_DIFFERENT);
	assert_true(compare_verify_pss_wrong(s->row));
	s = begin(PSS_FROM_ROLLUP);
	assert_int_equal(rounds(s, 100), COMPARE_DIFFERENT);
	assert_false(compare_verify_pss_wrong(s->row));
}

/* PSS and USS differ only if no process was started that could share pages. */
TEST(disturbed)
{
	struct scene *s = begin(PSS_FROM_KERNEL);

	s->seen.undisturbed = false;
	process_set(&s->rollup, COUNTER_RSS, 600 * PAGE);
	s->read.value[SMAPS_RSS] = 600 * PAGE;
	assert_int_equal(rounds(s, 100), COMPARE_MOVED);
	assert_int_equal(s->round, COMPARE_ROUNDS);
	s = begin(PSS_FROM_KERNEL);
	s->before.in_flux = true;
	assert_int_equal(rounds(s, 100), COMPARE_MOVED);
	assert_false(s->row->execed);
}

/* A difference must stay the same. */
TEST(moving)
{
	struct scene *s = begin(PSS_FROM_KERNEL);

	for (int i = 0; i < COMPARE_ROUNDS; i++) {
		s->before.value[COUNTER_PSS] += 2 * PAGE;
		s->after.value[COUNTER_PSS] = s->before.value[COUNTER_PSS];
		s->before.value[COUNTER_USS]++;
		s->before.value[COUNTER_RSS] += PAGE;
		s->after.value[COUNTER_RSS] = s->before.value[COUNTER_RSS];
		assert_int_equal(rounds(s, 1),
				 i + 1 < COMPARE_ROUNDS ? COMPARE_VERDICTS : COMPARE_MOVED);
	}
}

TEST(same)
{
	struct scene *s = begin(PSS_FROM_KERNEL);

	assert_int_equal(rounds(s, 2), COMPARE_VERDICTS);
	s->before.value[COUNTER_RSS] = s->read.value[SMAPS_RSS];
	s->before.value[COUNTER_PSS] = s->rollup.value[COUNTER_PSS] + 1024;
	s->before.value[COUNTER_USS] = 8 * PAGE;
	/* Also after an exec: one of the two readings is of the program in smaps_rollup. */
	s->after.mm_key = 2;
	assert_int_equal(rounds(s, 1), COMPARE_SAME);
	assert_true(s->row->agrees);
	/* One byte more is too much. */
	s = begin(PSS_FROM_KERNEL);
	s->before.value[COUNTER_RSS] = s->read.value[SMAPS_RSS];
	s->before.value[COUNTER_PSS] = s->rollup.value[COUNTER_PSS] + 1025;
	s->before.value[COUNTER_USS] = 8 * PAGE;
	s->after = s->before;
	assert_int_equal(rounds(s, 1), COMPARE_VERDICTS);
	/* The walk is inconsistent this time: there is nothing to compare. */
	s->before.value[COUNTER_PSS]--;
	s->before.pss_source = s->after.pss_source = PSS_FROM_NOTHING;
	assert_int_equal(rounds(s, 1), COMPARE_VERDICTS);
	s->before.pss_source = PSS_FROM_KERNEL;
	assert_int_equal(rounds(s, 1), COMPARE_SAME);
}

TEST(gone)
{
	struct scene *s = begin(PSS_FROM_KERNEL);

	s->seen.bpf_after = NULL;
	assert_int_equal(rounds(s, 1), COMPARE_GONE);
	s = begin(PSS_FROM_KERNEL);
	s->seen.rollup = NULL;
	assert_int_equal(rounds(s, 1), COMPARE_GONE);
}

/* Differences of a program do not count for the next one. */
TEST(exec_between)
{
	struct scene *s = begin(PSS_FROM_KERNEL);

	assert_int_equal(rounds(s, 5), COMPARE_VERDICTS);
	s->before.mm_key = s->after.mm_key = 2;
	assert_int_equal(rounds(s, 6), COMPARE_VERDICTS);
	assert_true(s->row->execed);
	assert_int_equal(rounds(s, 1), COMPARE_DIFFERENT);
}

/* PSS from smaps_rollup is not compared with itself: RSS and swap decide. */
TEST(rollup_rows)
{
	struct scene *s = begin(PSS_FROM_ROLLUP);

	assert_int_equal(rounds(s, 5), COMPARE_VERDICTS);
	s->after.value[COUNTER_RSS] = s->read.value[SMAPS_RSS];
	assert_int_equal(rounds(s, 1), COMPARE_SAME);
	/* Read again between two walks, for values of one moment. */
	s = begin(PSS_FROM_ROLLUP);
	s->before.value[COUNTER_RSS] = s->read.value[SMAPS_RSS] - PAGE;
	assert_int_equal(rounds(s, 1), COMPARE_VERDICTS);
	s->before.value[COUNTER_RSS] = s->read.value[SMAPS_RSS];
	assert_int_equal(rounds(s, 1), COMPARE_SAME);
	s = begin(PSS_FROM_ROLLUP);
	assert_int_equal(rounds(s, 100), COMPARE_DIFFERENT);
	assert_int_equal(compare_verify_cell(s->row)->counter, COUNTER_RSS);
}

/* Swap of smaps_rollup includes shared memory, SwapPss does not. */
TEST(swap)
{
	struct process p = {.pss_source = PSS_FROM_ROLLUP}, values = {};
	struct smaps_rollup rollup = {.have = 1U << SMAPS_SWAP | 1U << SMAPS_SWAP_PSS};

	process_set(&p, COUNTER_SWAP, 10 * PAGE);
	process_set(&values, COUNTER_SWAP_PSS, 10 * PAGE);
	rollup.value[SMAPS_SWAP] = 10 * PAGE;
	assert_true(compare_agrees(&p, &values, &rollup));
	rollup.value[SMAPS_SWAP] = 12 * PAGE;
	assert_true(compare_agrees(&p, &values, &rollup));
	rollup.value[SMAPS_SWAP] = 9 * PAGE;
	assert_false(compare_agrees(&p, &values, &rollup));
	rollup.value[SMAPS_SWAP] = 12 * PAGE;
	values.value[COUNTER_SWAP_PSS] = 11 * PAGE;
	assert_false(compare_agrees(&p, &values, &rollup));
	rollup.have = 0;
	assert_true(compare_agrees(&p, &values, &rollup));
}
