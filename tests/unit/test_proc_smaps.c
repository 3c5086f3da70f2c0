// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* smaps: files of several kernels, hostile names, corrupt files. Other pieces: fuzz_proc_smaps. */
#include "test_proc.h"

#include "proc/smaps.h"

struct seen {
	size_t count;
	struct mapping mapping[32];
	char name[32][300];
	uint64_t sum[MAPS_COUNTERS];
	int fail; /* the result of call fail_at */
	size_t fail_at;
};

static int add_mapping(void *arg, const struct mapping *m)
{
	struct seen *s = arg;

	assert_uint_in_range(strlen(m->name), 1, SMAPS_LINE_MAX);
	assert_true(m->end > m->start && m->mappings == 1 && m->processes == 1);
	for (int i = 0; i < MAPS_COUNTERS; i++) {
		if (map_has(&m->counters, i))
			s->sum[i] += m->counters.value[i];
		else
			assert_int_equal(m->counters.value[i], 0);
	}
	if (s->count < 32) {
		s->mapping[s->count] = *m;
		s->mapping[s->count].name = s->name[s->count];
		snprintf(s->name[s->count], sizeof(s->name[0]), "%s", m->name);
	}
	return ++s->count == s->fail_at ? s->fail : 0;
}

/* Feeds pieces of this size, each in its own memory. */
static int feed(struct seen *seen, const char *text, size_t len, size_t piece)
{
	static struct smaps s;
	int r = 0;

	smaps_begin(&s, add_mapping, seen);
	for (size_t at = 0; r == 0 && at < len; at += piece) {
		size_t n = len - at < piece ? len - at : piece;
		cleanup_free char *copy = exact_copy(text + at, n);

		r = smaps_feed(&s, copy, n);
	}
	return r ? r : smaps_end(&s);
}

static int feed_fixture(struct seen *seen, const char *name, size_t piece)
{
	size_t len;
	cleanup_free char *text = fixture(name, &len);

	*seen = (struct seen){};
	return feed(seen, text, len, piece);
}

TEST(kernels)
{
	const uint32_t missing = BIT(MAPS_SWAP_PSS) | BIT(MAPS_HUGETLB) | BIT(MAPS_LAZYFREE);
	struct seen s, again;
	size_t len;
	cleanup_free char *text = fixture("smaps-6.18", &len);

	assert_int_equal(feed_fixture(&s, "smaps-6.18", 65536), 0);
	assert_int_equal(s.count, 4);
	assert_string_equal(s.name[0], "/usr/bin/head");
	assert_string_equal(s.name[1], "[heap]");
	assert_string_equal(s.name[3], "[vsyscall]");
	assert_true(s.mapping[3].start == 0xffffffffff600000);
	assert_string_equal(s.mapping[3].perm, "--xp");
	/* An error of the callback ends the parsing at once. */
	for (size_t at = 1; at <= 4; at++) {
		again = (struct seen){.fail = -ENOMEM, .fail_at = at};
		assert_int_equal(feed(&again, text, len, 65536), -ENOMEM);
		assert_int_equal(again.count, at);
	}
	assert_int_equal(s.sum[MAPS_RSS], KB(20));
	assert_int_equal(s.sum[MAPS_PSS], KB(16));
	assert_int_equal(s.sum[MAPS_PRIVATE], KB(16));
	assert_int_equal(s.sum[MAPS_SHARED], KB(4));
	for (size_t i = 0; i < s.count; i++)
		assert_int_equal(s.mapping[i].counters.have, MAPS_COUNTERS_SMAPS);
	/* An old kernel: missing values are not 0, and huge pages are anonymous. */
	len = without_keys(
		text, len,
		" LazyFree ShmemPmdMapped FilePmdMapped Shared_Hugetlb Private_Hugetlb SwapPss ");
	again = (struct seen){};
	assert_int_equal(feed(&again, text, len, 65536), 0);
	for (size_t i = 0; i < again.count; i++)
		assert_int_equal(again.mapping[i].counters.have, MAPS_COUNTERS_SMAPS & ~missing);
	assert_int_equal(again.sum[MAPS_RSS], KB(20));
}

/* A path that is too long: its beginning is kept, and the keys after it count. */
TEST(long_name)
{
	cleanup_free char *text = malloc(100000);
	struct seen s = {};
	int len;

	assert_non_null(text);
	len = sprintf(text, "1000-2000 r--p 0 0:0 1 /%050000d\nRss: 4 kB\nPss: 4 kB\n", 7);
	assert_int_equal(feed(&s, text, (size_t)len, 1000), 0);
	assert_int_equal(s.count, 1);
	assert_true(s.mapping[0].name_cut);
	assert_int_equal(s.sum[MAPS_RSS], KB(4));
	/* A key of this length is ignored. */
	len = sprintf(text, "1000-2000 r--p 0 0:0 1\nRss: %050000d kB\nPss: 4 kB\n", 7);
	s = (struct seen){};
	assert_int_equal(feed(&s, text, (size_t)len, 1000), 0);
	assert_int_equal(s.mapping[0].counters.have, BIT(MAPS_SIZE) | BIT(MAPS_PSS));
}

static int feed_text(struct seen *s, const char *text)
{
	*s = (struct seen){};
	return feed(s, text, strlen(text), 5);
}

TEST(refused)
{
	static const char *const bad[] = {
		"Rss: 4 kB\n",
		"1000-1000 r--p 0 0:0 1\nRss: 4 kB\n",
		"2000-1000 r--p 0 0:0 1\nRss: 4 kB\n",
		"1000-2000 r--p 0 0:0\nRss: 4 kB\n",
		"1000-2000 r-- 0 0:0 1\nRss: 4 kB\n",
		"1000-2000 rxwp 0 0:0 1\nRss: 4 kB\n",
		"1000-20000000000000000 r--p 0 0:0 1\nRss: 4 kB\n",
		"1000-2000 r--p 0 0:0 1x\nRss: 4 kB\n",
		"1000-2000 r--p 0 0:0 1\n",
		"1000-2000 r--p 0 0:0 1\nRss: 4 kB",
		"\n\n\n",
	};
	size_t len;
	cleanup_free char *garbage = fixture("garbage", &len);
	struct seen s = {};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(feed_text(&s, bad[i]), -EINVAL);
	assert_int_equal(feed_text(&s, ""), -ENODATA);
	assert_int_equal(feed(&s, garbage, len, 100), -EINVAL);
	/* Values after an invalid line belong to no mapping. */
	assert_int_equal(feed_text(&s, "1000-2000 r--p 0 0:0 1 /a\nRss: 4 kB\n2000-3 r--p\n"
				       "Pss: 8 kB\n3000-4000 r--p 0 0:0 1\nRss: 8 kB\n"),
			 -EINVAL);
	assert_int_equal(s.count, 2);
	assert_int_equal(s.sum[MAPS_PSS], 0);
	/* Cut off among the keys of huge pages: an incomplete sum is absent. */
	assert_int_equal(feed_text(&s, "1000-2000 r--p 0 0:0 1\nAnonHugePages: 4 kB\n"
				       "ShmemPmdMapped: 4 kB\n2000-3000 r--p 0 0:0 1\n"
				       "AnonHugePages: 4 kB\n"),
			 0);
	assert_true(map_has(&s.mapping[0].counters, MAPS_THP));
	assert_false(map_has(&s.mapping[1].counters, MAPS_THP));
}
