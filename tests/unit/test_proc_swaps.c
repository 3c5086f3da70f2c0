// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* swaps_parse() */
#include "test_proc.h"

#include "model/system.h"

#define HEADING "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
#define MAX	4

/* Parses a text that ends at the end of its memory. */
static int parse(const char *text, struct swap_device *ret)
{
	size_t len = strlen(text);
	cleanup_free char *copy = exact_copy(text, len);

	return swaps_parse(copy, len, ret, MAX);
}

static void assert_device(const struct swap_device *d, const char *name, enum swap_kind kind,
			  uint64_t size_kb, uint64_t used_kb, int priority)
{
	assert_string_equal(d->name, name);
	assert_false(d->name_cut);
	assert_int_equal(d->kind, kind);
	assert_true(d->size == size_kb * 1024);
	assert_true(d->used == used_kb * 1024);
	assert_int_equal(d->priority, priority);
}

TEST(captured)
{
	size_t len;
	cleanup_free char *text = fixture("swaps-6.18", &len);
	struct swap_device d[8];

	assert_int_equal(swaps_parse(text, len, d, 8), 4);
	assert_device(&d[0], "/dev/nvme0n1p3", SWAP_PARTITION, 8388604, 524288, -2);
	assert_device(&d[1], "/var/swap/a b\t\\c\nd", SWAP_FILE, 1048572, 0, 10);
	assert_device(&d[2], "/dev/zram0", SWAP_PARTITION, 4194300, 1234, 32767);
	assert_device(&d[3], "/swapfile (deleted)", SWAP_FILE, 12345678, 104, -3);
	/* At most as many as fit. */
	memset(d, 0xa5, sizeof(d));
	assert_int_equal(swaps_parse(text, len, d, 2), 2);
	assert_device(&d[1], "/var/swap/a b\t\\c\nd", SWAP_FILE, 1048572, 0, 10);
	assert_int_equal((unsigned char)d[2].name[0], 0xa5);
}

TEST(names)
{
	char text[1200] = HEADING;
	struct swap_device d[MAX];
	size_t at = strlen(text);

	/* Other escapes than the kernel's stay unchanged. */
	assert_int_equal(parse(HEADING "\\8\\0400\\04\\ network 4503599627370496 0 0\n", d), 1);
	assert_device(&d[0], "\\8 0\\04\\", SWAP_OTHER, (uint64_t)1 << 52, 0, 0);
	assert_int_equal(parse(HEADING "\\377\\401 files 1 0 0\n", d), 1);
	assert_device(&d[0], "\xff\\401", SWAP_OTHER, 1, 0, 0);
	/* The longest name that fits, and a longer one. */
	memset(text + at, 'n', 255);
	strcpy(text + at + 255, " file 1 0 0\n");
	assert_int_equal(parse(text, d), 1);
	assert_int_equal(strlen(d[0].name), 255);
	assert_false(d[0].name_cut);
	memset(text + at, 'n', 256);
	strcpy(text + at + 256, " file 1 0 0\n");
	assert_int_equal(parse(text, d), 1);
	assert_int_equal(strlen(d[0].name), 255);
	assert_true(d[0].name_cut);
	assert_int_equal(d[0].size, 1024);
}
