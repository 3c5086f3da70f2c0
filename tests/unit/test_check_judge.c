// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Verdicts of src/compare: same, moved, approximate, different. */
#include "unit.h"

#include "check/compare.h"

#define PAGE UINT64_C(4096)

/* One process and the readings of both sides. */
struct scene {
	struct process who, bpf_before, bpf_after, status_before, status_after, rollup;
	struct process *list[1];
	struct comparison comparison;
	struct compare_seen seen;
};

/*
 * Ends the last scene and begins another one: both sides have the same 100 pages, 40 of them
 * anonymous, and 1000.5 bytes less as PSS.
 */
static struct scene *begin(counter_mask wanted)
{
	static struct scene scene;
	struct scene *s = &scene;
	struct process counters = {
		.pid = 42, .threads = 2, .name = "it", .pss_source = PSS_FROM_KERNEL};

	comparison_done(&s->comparison);
	process_set(&counters, COUNTER_RSS, 100 * PAGE);
	process_set(&counters, COUNTER_RSS_ANON, 40 * PAGE);
	process_set(&counters, COUNTER_VSIZE, 500 * PAGE);
	process_set(&counters, COUNTER_PSS, 100 * PAGE - 1000);
	process_set(&counters, COUNTER_SWAP, 0);
	*s = (struct scene){.who = counters,
			    .bpf_before = counters,
			    .bpf_after = counters,
			    .status_before = counters,
			    .status_after = counters,
			    .rollup = counters};
	s->list[0] = &s->who;
	s->rollup.value[COUNTER_PSS] = 100 * PAGE - 1024; /* whole kB */
	s->seen = (struct compare_seen){
		.status_before = &s->status_before,
		.status_after = &s->status_after,
		.bpf_before = &s->bpf_before,
		.bpf_after = &s->bpf_after,
		.rollup = &s->rollup,
		.status_result = PSS_OK,
		.rollup_result = PSS_OK,
		.undisturbed = true,
	};
	assert_int_equal(comparison_init(&s->comparison, s->list, 1, wanted), 0);
	s->comparison.bound = compare_bound_per_cpu(4, PAGE);
	return s;
}

static struct compare_cell *cell_of(struct scene *s, enum counter c)
{
	struct compare_row *row = &s->comparison.row[0];

	for (size_t i = 0; i < row->count; i++) {
		if (row->cell[i].counter == c)
			return &row->cell[i];
	}
	fail_msg("no cell of %s", counter_table[c].key);
	return NULL;
}

/* Runs rounds with the same readings until the row is settled. Returns their number. */
static unsigned rounds(struct scene *s)
{
	struct compare_row *row = &s->comparison.row[0];
	unsigned round = 0;

	while (!row->settled && round < COMPARE_ROUNDS)
		compare_judge(row, &s->seen, ++round);
	assert_true(row->settled);
	return round;
}

static int verdict(struct scene *s, enum counter c)
{
	const struct compare_cell *cell = cell_of(s, c);

	assert_true(cell->settled);
	assert_false(cell->left_out);
	return cell->verdict;
}

#define ALL                                                                                        \
	(COUNTER_BIT(COUNTER_RSS) | COUNTER_BIT(COUNTER_RSS_ANON) | COUNTER_BIT(COUNTER_VSIZE) |   \
	 COUNTER_BIT(COUNTER_PSS) | COUNTER_BIT(COUNTER_SWAP))

TEST(bracketed)
{
	struct scene *s = begin(ALL);

	process_set(&s->status_before, COUNTER_RSS_ANON, 38 * PAGE);
	process_set(&s->status_after, COUNTER_RSS_ANON, 41 * PAGE);
	process_set(&s->status_before, COUNTER_VSIZE, 502 * PAGE); /* it may also fall */
	process_set(&s->bpf_after, COUNTER_PSS, 110 * PAGE);
	process_set(&s->rollup, COUNTER_PSS, 105 * PAGE);
	assert_int_equal(rounds(s), 1);
	assert_int_equal(verdict(s, COUNTER_RSS_ANON), COMPARE_MOVED);
	assert_int_equal(verdict(s, COUNTER_VSIZE), COMPARE_MOVED);
	assert_int_equal(verdict(s, COUNTER_PSS), COMPARE_MOVED);
	assert_int_equal(verdict(s, COUNTER_RSS), COMPARE_SAME);
}

/* The arguments of a program in execve() count as memory and are not mapped. */
TEST(starting)
{
	struct scene *s = begin(ALL);

	process_set(&s->rollup, COUNTER_RSS, 75 * PAGE);
	process_set(&s->rollup, COUNTER_PSS, 74 * PAGE);
	s->bpf_before.in_flux = s->bpf_after.in_flux = true;
	assert_int_equal(rounds(s), COMPARE_ROUNDS);
	assert_int_equal(verdict(s, COUNTER_RSS), COMPARE_MOVED);
	assert_int_equal(verdict(s, COUNTER_PSS), COMPARE_MOVED);
	assert_int_equal(verdict(s, COUNTER_RSS_ANON), COMPARE_SAME);
}

/* Its status is so many pages ahead. */
static struct scene *lagging(uint64_t pages)
{
	struct scene *s = begin(ALL);

	process_set(&s->status_before, COUNTER_RSS_ANON, 40 * PAGE + pages * PAGE);
	process_set(&s->status_after, COUNTER_RSS_ANON, 40 * PAGE + pages * PAGE);
	rounds(s);
	return s;
}

TEST(approximate)
{
	static const struct {
		bool per_thread;
		uint64_t pages;
		enum compare_verdict verdict;
	} is[] = {
		/* 31 pages on each of 4 CPUs; pending counts of each of two threads. */
		{false, 124, COMPARE_APPROXIMATE},
		{false, 125, COMPARE_DIFFERENT},
		{true, 2 * 1040, COMPARE_APPROXIMATE},
		{true, 2 * 1040 + 1, COMPARE_DIFFERENT},
	};
	struct scene *s;

	for (size_t i = 0; i < ARRAY_SIZE(is); i++) {
		s = lagging(is[i].pages);
		s->comparison.per_thread = is[i].per_thread;
		if (is[i].per_thread)
			s->comparison.bound = compare_bound_per_thread(PAGE);
		compare_finish(&s->comparison, 1);
		assert_int_equal(verdict(s, COUNTER_RSS_ANON), is[i].verdict);
		assert_int_equal(s->comparison.approximate, is[i].verdict == COMPARE_APPROXIMATE);
	}
	/* No smaps_rollup can be read: only the bound decides. */
	s = lagging(3);
	cell_of(s, COUNTER_RSS)->left_out = true;
	compare_finish(&s->comparison, 0);
	assert_int_equal(verdict(s, COUNTER_RSS_ANON), COMPARE_APPROXIMATE);
	/* smaps_rollup agrees with status: the difference counts. */
	s = begin(ALL);
	process_set(&s->status_before, COUNTER_RSS_ANON, 41 * PAGE);
	process_set(&s->status_after, COUNTER_RSS_ANON, 41 * PAGE);
	process_set(&s->rollup, COUNTER_RSS, 101 * PAGE);
	rounds(s);
	compare_finish(&s->comparison, 1);
	assert_false(s->comparison.approximate);
	assert_int_equal(verdict(s, COUNTER_RSS_ANON), COMPARE_DIFFERENT);
	assert_int_equal(verdict(s, COUNTER_RSS), COMPARE_DIFFERENT);
}

TEST(bounds)
{
	/* lib/percpu_counter.c: batch = max(32, 2 * CPUs). */
	assert_int_equal(compare_bound_per_cpu(1, 4096), 31 * 4096);
	assert_int_equal(compare_bound_per_cpu(16, 4096), 16 * 31 * 4096);
	assert_int_equal(compare_bound_per_cpu(64, 4096), 64 * 127 * 4096);
	assert_int_equal(compare_bound_per_cpu(256, 4096), UINT64_C(256) * 511 * 4096);
	assert_int_equal(compare_bound_per_thread(4096), 65 * 16 * 4096);
}

TEST(not_read)
{
	static const struct {
		enum pss_status result;
		enum compare_verdict verdict;
	} table[] = {{PSS_DENIED, COMPARE_DENIED}, {PSS_TIMEOUT, COMPARE_TIMEOUT}};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct scene *s = begin(ALL);
		int64_t difference;

		s->seen.rollup = NULL;
		s->seen.rollup_result = table[i].result;
		assert_int_equal(rounds(s), 1);
		assert_int_equal(verdict(s, COUNTER_PSS), table[i].verdict);
		assert_int_equal(verdict(s, COUNTER_RSS_ANON), COMPARE_SAME);
		assert_true(cell_of(s, COUNTER_PSS)->bpf_known);
		assert_false(cell_of(s, COUNTER_PSS)->proc_known);
		assert_false(compare_difference(cell_of(s, COUNTER_PSS), &difference));
	}
}

/* A value that one side never has is left out. */
TEST(left_out)
{
	struct scene *s = begin(ALL);
	struct compare_sums sums;

	s->seen.rollup = NULL;
	s->seen.rollup_result = PSS_SKIPPED;
	assert_int_equal(rounds(s), 1);
	compare_sum(&s->comparison, &sums);
	assert_int_equal(sums.cells, 3);
	s = begin(ALL);
	s->status_before.have = s->status_after.have &= ~COUNTER_BIT(COUNTER_SWAP);
	assert_int_equal(rounds(s), 1);
	compare_sum(&s->comparison, &sums);
	assert_int_equal(sums.cells, 4);
	/* An inconsistent walk may be consistent next time: all rounds are run. */
	s = begin(ALL);
	s->bpf_before.have = s->bpf_after.have &= ~COUNTER_BIT(COUNTER_PSS);
	s->bpf_before.pss_source = s->bpf_after.pss_source = PSS_FROM_NOTHING;
	assert_int_equal(rounds(s), COMPARE_ROUNDS);
	assert_int_equal(verdict(s, COUNTER_PSS), COMPARE_MOVED);
	assert_false(cell_of(s, COUNTER_PSS)->bpf_known);
}

TEST(settle)
{
	struct scene *s = begin(ALL);
	struct compare_sums sums;

	compare_settle(&s->comparison.row[0], COMPARE_GONE);
	compare_finish(&s->comparison, 0);
	compare_sum(&s->comparison, &sums);
	assert_int_equal(sums.verdict[COMPARE_GONE], 5);
	assert_true(s->comparison.row[0].settled);
}

/*
 * A difference counts only within one program. `before` and `after` are the programs in the first
 * and in the second kernel reading of each round; the last ones stay.
 */
TEST(exec)
{
	static const struct {
		const char *before, *after;
		unsigned rounds;
		enum compare_verdict verdict;
	} is[] = {
		{"a", "a", 6, COMPARE_DIFFERENT},
		/* Equal before and after, with another program in between. */
		{"abcdefghijklmnopqrstuvwxyzABCa", "bcdefghijklmnopqrstuvwxyzABCDb", COMPARE_ROUNDS,
		 COMPARE_MOVED},
		/* Each program differs five times, which is not enough. */
		{"aaaabbbbbcccccdddddeeeeefffffz", "aaaabbbbbcccccdddddeeeeefffffz", COMPARE_ROUNDS,
		 COMPARE_MOVED},
		/* After one exec it differs six times; the round of the exec does not count. */
		{"aaaaab", "aaaab", 11, COMPARE_DIFFERENT},
	};

	for (size_t i = 0; i < ARRAY_SIZE(is); i++) {
		const char *before = is[i].before, *after = is[i].after;
		struct scene *s = begin(COUNTER_BIT(COUNTER_PSS));
		struct compare_row *row = &s->comparison.row[0];
		unsigned round = 0;

		process_set(&s->rollup, COUNTER_PSS, 7 * PAGE);
		while (!row->settled) {
			s->bpf_before.mm_key = (uint64_t)*before;
			s->bpf_after.mm_key = (uint64_t)*after;
			before += before[1] != '\0';
			after += after[1] != '\0';
			compare_judge(row, &s->seen, ++round);
		}
		assert_int_equal(round, is[i].rounds);
		assert_int_equal(verdict(s, COUNTER_PSS), is[i].verdict);
	}
}
