// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests of parsing: a value is accepted whole or refused. Items of lists: fuzz_base_parse. */
#include "unit.h"

#include <limits.h>

#include "base/parse.h"

TEST(u64)
{
	static const struct {
		const char *s;
		uint64_t max;
		int r;
		uint64_t value;
	} cases[] = {
		{"007", 10, 0, 7},
		{"4194304", 4194304, 0, 4194304},
		{"4194305", 4194304, -ERANGE, 99},
		{"18446744073709551615", UINT64_MAX, 0, UINT64_MAX},
		{"18446744073709551616", UINT64_MAX, -ERANGE, 99},
		{"99999999999999999999999", UINT64_MAX, -ERANGE, 99},
		{"", UINT64_MAX, -EINVAL, 99},
		{"-1", UINT64_MAX, -EINVAL, 99},
		{"1 ", UINT64_MAX, -EINVAL, 99},
		{"0x10", UINT64_MAX, -EINVAL, 99},
	};

	uint64_t v;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		v = 99;
		assert_int_equal(parse_u64(cases[i].s, strlen(cases[i].s), cases[i].max, &v),
				 cases[i].r);
		assert_int_equal(v, cases[i].value);
	}
	/* The text need not be terminated. */
	assert_int_equal(parse_u64("123456", 3, UINT64_MAX, &v), 0);
	assert_int_equal(v, 123);
}

TEST(size)
{
	static const struct {
		const char *s;
		int want;
		uint64_t bytes;
	} cases[] = {
		{"0", 0, 0},
		{"12B", 0, 12},
		{"1K", 0, 1024},
		{"3KiB", 0, 3072},
		{"2Gib", 0, 2ull << 30},
		{"16777216T", -ERANGE, 0},
		{"18446744073709551615", 0, UINT64_MAX},
		{"18446744073709551616", -ERANGE, 0},
		{"", -EINVAL, 0},
		{"K", -EINVAL, 0},
		{"5KiBs", -EINVAL, 0},
		{"5Ki", -EINVAL, 0},
		{"1.5M", 0, 1536 << 10},
		{".25K", 0, 256},
		{"16777215.999T", 0, (16777215ull << 40) + (999ull << 40) / 1000},
		{"1.G", -EINVAL, 0},
		{".G", -EINVAL, 0},
		{"5\v", -EINVAL, 0},
		{"5+", -EINVAL, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t v = 77;

		assert_int_equal(parse_size(cases[i].s, strlen(cases[i].s), &v), cases[i].want);
		assert_int_equal(v, cases[i].want ? 77 : cases[i].bytes);
	}
}

TEST(distance)
{
	static const struct {
		const char *word, *text;
		unsigned want;
	} cases[] = {
		{"pss", "pss", 0},	  {"pss", "PSS", 0},   {"pss", "ps", 1},
		{"pss", "psss", 1},	  {"pss", "pass", 1},  {"pss", "rss", 1},
		{"watch", "wahtc", 2},	  {"sort", "sotr", 1}, {"top", "pot", 2},
		{"", "abc", 3},		  {"abc", "", 3},      {"snapshot", "snaphot", 1},
		{"kitten", "sitting", 3},
	};
	char longer[PARSE_NEAR_MAX + 1];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(
			parse_distance(cases[i].word, cases[i].text, strlen(cases[i].text)),
			cases[i].want);
	memset(longer, 'a', sizeof(longer));
	assert_int_equal(parse_distance("a", longer, sizeof(longer)), UINT_MAX);
	assert_int_equal(parse_distance("", longer, PARSE_NEAR_MAX), PARSE_NEAR_MAX);
}

/* `least` is the smallest distance so far; words that are too far are not near. */
TEST(nearer)
{
	static const struct {
		const char *word, *text;
		bool nearer;
		unsigned least;
	} cases[] = {
		{"top", "nope", false, 0},
		{"snapshot", "shot", false, 0},
		{"help", "", false, 0},
		{"pss_shmem", "pss_shm", true, 2},
		{"pss_anon", "pss_shm", false, 2},
		{"pss_shme", "pss_shm", true, 1},
	};
	unsigned least = 0;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(parse_is_nearer(cases[i].word, cases[i].text,
						 strlen(cases[i].text), &least),
				 cases[i].nearer);
		assert_int_equal(least, cases[i].least);
	}
}

static void note_cpu(void *arg, unsigned cpu)
{
	uint64_t *set = arg;

	assert_true(cpu < 64);
	*set |= UINT64_C(1) << cpu;
}

TEST(cpu_list)
{
	static const struct {
		const char *s;
		int count;
		uint64_t set;
	} cases[] = {
		{"0\n", 1, 0x1},
		{"0-3,5\n", 5, 0x2f},
		{"1,3,5-6", 4, 0x6a},
		{"\n", 0, 0},
		{"3-1", -EINVAL, 0},
		{"0,", -EINVAL, 0},
		{"-3", -EINVAL, 0},
		{"0- 3", -EINVAL, 0},
		{"0 ", -EINVAL, 0},
		{"0-4294967295", -EINVAL, 0},
		{"99999999999999999999", -EINVAL, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t set = 0;

		assert_int_equal(parse_cpu_list(cases[i].s, strlen(cases[i].s), note_cpu, &set),
				 cases[i].count);
		assert_int_equal(set, cases[i].set);
	}
}

TEST(same_word)
{
	assert_true(parse_same_word("pss_anon", "Pss_ANON,rss", 8));
	assert_true(parse_same_word("PID", "pid", 3));
	assert_true(parse_same_word("%pss", "%PSS", 4));
	assert_false(parse_same_word("pss", "pss_anon", 8));
	assert_false(parse_same_word("pss_anon", "pss", 3));
	assert_false(parse_same_word("pid", "p\304\261d", 4));
	/* Only letters have case: '[' is not '{'. */
	assert_false(parse_same_word("[", "{", 1));
	assert_false(parse_same_word("a", "\0", 1));
}
