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
	struct smaps_rollup r = parse("smaps_rollup-6.18");
	size_t len, cut;
	cleanup_free char *text = fixture("smaps_rollup-6.18", &len);

	assert_captured(&r, ALL);
	/* Values after the cut are absent, and so is the cut one. */
	cut = length_through(text, len, "Private_Dirty:     51796");
	assert_int_equal(smaps_rollup_parse(text, cut, &r), 0);
	assert_captured(&r, BIT(SMAPS_PRIVATE_DIRTY) - 1);
	len = without_keys(text, len, " Pss_Anon Pss_File Pss_Shmem FilePmdMapped ");
	assert_int_equal(smaps_rollup_parse(text, len, &r), 0);
	assert_captured(&r, ALL & ~newer);
}

TEST(some_keys)
{
	struct smaps_rollup r;

	/* One of the two suffices, and none does not: fuzz_proc_smaps_rollup. */
	assert_int_equal(smaps_rollup_parse("Pss: 3 kB", 9, &r), 0);
	assert_int_equal(r.have, BIT(SMAPS_PSS));
	assert_int_equal(smaps_rollup_parse("Rss: 4 kB\r\nPss:\0 3 kB\nSw\0p: 5 kB", 33, &r), 0);
	assert_int_equal(r.have, BIT(SMAPS_RSS));
}
