// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* mkmem's words for memory that is swapped out, and for pages merged by KSM. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mkmem.h"

/* ---- swap ---- */

/* MADV_PAGEOUT skips pages that several processes map. */
static void page_out(char *p, size_t size)
{
	size_t before = rollup_bytes("Swap");

	if (file_number("/proc/meminfo", "SwapTotal") <= 0)
		shape_skip("no swap");
	for (int try = 0; try < 50; try++) {
		if (madvise(p, size, MADV_PAGEOUT))
			shape_skip("no MADV_PAGEOUT");
		if (rollup_bytes("Swap") >= before + size - size / 16)
			return;
		usleep(20000);
	}
	errno = 0;
	shape_fail("the kernel does not page it out");
}

static char *map_swapped(size_t size)
{
	char *p = map_apart(size);

	fill(p, size);
	page_out(p, size);
	return p;
}

/* A quarter each: one word repeated, random, and two quarters that are well compressed. */
static void fill_mixed(char *p, size_t size)
{
	uint64_t random = 0x9e3779b97f4a7c15ULL;

	for (size_t at = 0; at < size; at += 4096) {
		size_t kind = at / 4096 % 4;

		for (size_t i = 0; i < 4096; i += sizeof(random)) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			if (kind == 0)
				memset(p + at + i, 'z', sizeof(random));
			else if (kind == 1)
				memcpy(p + at + i, &random, sizeof(random));
			else
				memset(p + at + i, (int)(at / 4096), 7);
		}
	}
}

/* ---- KSM ---- */

static long merging_pages(void)
{
	const char *text = file_text("/proc/self/ksm_merging_pages");

	return *text ? atol(text) : -1;
}

static void need_ksm(void)
{
	const char *text = file_text("/sys/kernel/mm/ksm/run");

	if (!*text)
		shape_lack("no KSM");
	if (*text != '1')
		shape_skip("KSM is off");
}

/* Waits until the number of merged pages is stable for a second. */
static void wait_merged(void)
{
	long merged = 0, before = -1;

	for (int i = 0; i < 40 && (merged <= 0 || merged != before); i++) {
		before = merged;
		sleep(1);
		merged = merging_pages();
	}
	if (merged <= 0)
		shape_skip("KSM did not merge in time");
}

/* Each shape has its own content: shapes do not merge. */
void merge(char *p, size_t size, int content)
{
	need_ksm();
	memset(p, content, size);
	if (madvise(p, size, MADV_MERGEABLE))
		shape_fail("MADV_MERGEABLE");
	if (merging_pages() < 0)
		shape_before(519, "nothing tells what KSM merged");
	wait_merged();
}

const struct word swap_words[] = {
	{"swapped", .map = map_swapped},
	{"out", .act = page_out},
	{"fill_mixed", .act = fill_mixed},
	{},
};
