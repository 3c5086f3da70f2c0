// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* smaps_rollup_parse() with files of several kernels and with corrupt files. */
#include "test_proc.h"

#include "proc/smaps.h"

#define ALL (BIT(SMAPS_KEYS) - 1)

/* Of the captured process, kB. */
static const uint64_t captured[SMAPS_KEYS] = {
	58480, 57106, 7764, 5310, 44032, 1628, 0, 5056, 51796, 0, 0, 0, 0, 0, 0, 8192, 4099, 0,
};

static struct smaps_rollup parse(const char *name)
{
	size_t len;
	cleanup_free char *text = fixture(name, &len);
	struct smaps_rollup rollup;

	assert_int_equal(smaps_rollup_parse(text, len, &rollup), 0);
	return rollup;
}

static void assert_captured(const struct smaps_rollup *r, uint32_t have)
{
	assert_kib(r->have, r->value, have, captured, SMAPS_KEYS);
}

TEST(kernels)
{
	const uint32_t newer = BIT(SMAPS_PSS_ANON) | BIT(SMAPS_PSS_FILE) | BIT(SMAPS_PSS_SHMEM) |
			       BIT(SMAPS_FILE_PMD);
	static const char *const all[] = {"smaps_rollup-6.18", "smaps_rollup-5.10",
					  "smaps_rollup-unknown-keys", "smaps_rollup-crlf"};
	struct smaps_rollup r;

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		r = parse(all[i]);
		assert_captured(&r, ALL);
	}
	r = parse("smaps_rollup-4.19");
	assert_captured(&r, ALL & ~newer);
}

/* Values after the cut are absent, and so is the cut one. */
TEST(truncated)
{
	struct smaps_rollup r = parse("smaps_rollup-truncated");
	size_t len;
	cleanup_free char *text = fixture("smaps_rollup-6.18", &len);
	int last = 0;

	assert_captured(&r, BIT(SMAPS_PRIVATE_DIRTY) - 1);
	/* Cut anywhere: values are right, and a longer text never has fewer. */
	for (size_t n = 0; n <= len; n++) {
		cleanup_free char *part = exact_copy(text, n);
		int count;

		if (smaps_rollup_parse(part, n, &r) < 0)
			continue;
		assert_captured(&r, r.have);
		count = __builtin_popcount(r.have);
		assert_true(count >= last);
		last = count;
	}
	assert_int_equal(last, SMAPS_KEYS);
}

TEST(damaged)
{
	struct smaps_rollup r = parse("smaps_rollup-damaged");

	/* The first Rss with a colon; the largest number of kB that is a value. */
	assert_int_equal(r.have, BIT(SMAPS_RSS) | BIT(SMAPS_PSS_FILE) | BIT(SMAPS_SWAP_PSS));
	assert_int_equal(r.value[SMAPS_RSS], KB(4004));
	assert_true(r.value[SMAPS_PSS_FILE] == (1ull << 62) - 1024);
	assert_int_equal(r.value[SMAPS_SWAP_PSS], KB(77));

	r = parse("smaps_rollup-nul");
	assert_captured(&r, ALL & ~(BIT(SMAPS_PSS_ANON) | BIT(SMAPS_SWAP)));

	r = parse("smaps_rollup-swap-last");
	assert_int_equal(r.value[SMAPS_SWAP], KB(88));
	assert_int_equal(r.value[SMAPS_SWAP_PSS], KB(77));
	assert_int_equal(r.value[SMAPS_PSS], KB(11));
	assert_int_equal(r.value[SMAPS_RSS], KB(22));

	/* One of the two suffices. */
	assert_int_equal(smaps_rollup_parse("Pss: 3 kB", 9, &r), 0);
	assert_int_equal(r.have, BIT(SMAPS_PSS));
	assert_int_equal(smaps_rollup_parse("Rss: 4 kB\n", 10, &r), 0);
	assert_int_equal(r.have, BIT(SMAPS_RSS));
}

TEST(refused)
{
	struct smaps_rollup r, before;
	size_t len;
	cleanup_free char *garbage = fixture("garbage", &len);
	cleanup_free char *status = NULL, *line = malloc(65536);

	memset(&r, 0xa5, sizeof(r));
	before = r;
	assert_int_equal(smaps_rollup_parse(garbage, len, &r), -EINVAL);
	assert_int_equal(smaps_rollup_parse(NULL, 0, &r), -EINVAL);
	assert_int_equal(smaps_rollup_parse("Swap: 1 kB\n", 11, &r), -EINVAL);
	status = fixture("status-6.18", &len);
	assert_int_equal(smaps_rollup_parse(status, len, &r), -EINVAL);

	/* 64 KiB in one line: without a colon, as a key, as a number. */
	assert_non_null(line);
	memset(line, '7', 65536);
	assert_int_equal(smaps_rollup_parse(line, 65536, &r), -EINVAL);
	line[65535] = ':';
	assert_int_equal(smaps_rollup_parse(line, 65536, &r), -EINVAL);
	memcpy(line, "Rss:", 4);
	assert_int_equal(smaps_rollup_parse(line, 65536, &r), -EINVAL);
	assert_memory_equal(&r, &before, sizeof(r));
}
