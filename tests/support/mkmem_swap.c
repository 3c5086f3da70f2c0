// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* mkmem's shapes of memory that is swapped out, and of pages merged by KSM. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mkmem.h"

/* ---- swap ---- */

/* MADV_PAGEOUT skips pages that several processes map. */
void page_out(char *p, size_t size)
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

char *map_swapped(size_t size)
{
	char *p = map_apart(size);

	fill(p, size);
	page_out(p, size);
	return p;
}

/* A quarter each: one word repeated, random, and two quarters that are well compressed. */
void fill_mixed(char *p, size_t size)
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

const struct shape swap_shapes[] = {
	{"swap", "private memory paged out", "a = small 10M; fill a; out a:8M"},
	{"swap_fork", "memory paged out and shared by fork",
	 "a = swapped 8M; child {} reader { touch a:2M } writer { fill a:2M }"},
	{"swap_half", "the same, some of it back again here and there",
	 "a = swapped 4M; child { touch a:1M; fill a+1M:.5M } touch a+.5M:1M; fill a+2M:.5M;"
	 "late_child { touch a:1M; fill a+1M:.5M }"},
	/* Swap entries that were shared and now belong to one process. */
	{"swap_exec", "was shared with a child that is another program now",
	 "a = swapped 2M; exec { program }"},
	{"swap_left", "paged out, shared by fork, unmapped by the parent",
	 "a = swapped 2M; child {} unmap a"},
	/* Resident memory is shared by fork; swapped memory is private to each process. */
	{"swap_own", "memory shared by fork, other memory paged out",
	 "a = apart 2M; fill a; b = small 1M; fill b; dontfork b; out b; child { c = swapped 2M }"
	 "child2 {} c = swapped 2M"},
	{"swap_none", "paged out, then PROT_NONE and read only",
	 "a = swapped 3M; touch a:1M; none a+.5M:1M; readonly a+2M:.5M"},
	{"swap_thp", "huge pages paged out",
	 "a = aligned 3H; hugepage a; fill a; out a:2H; out a+2H:.5H; touch a+.5H:1H"},
	{"swap_file", "written private pages of a file paged out",
	 "f = temp 2M; a = private f; fill a; out a:1M"},
	{"swap_shmem", "shared memory paged out",
	 "a = shared 8M; fill a; out a; child {} reader { touch a:1M }"},
	/* The same swapped pages are mapped in full, in part, and under private pages. */
	{"swap_memfd", "a memfd paged out, mapped whole, in part, private",
	 "f = memfd 4M; a = shared f; fill a; out a; quarter { unmap a+1M; touch a:.5M }"
	 "p = private f; fill p:1M; out p:.5M"},
	/* tmpfs: no process maps it. */
	{"swap_books", "40 MiB each: private, forked, shared, on a tmpfs alone",
	 "private { a = swapped 40M } shmem { a = shared 40M; fill a; out a }"
	 "tmpfs { f = memfd 40M; a = shared f; fill a; out a; unmap a } a = swapped 40M; child {}",
	 .on_request = true},
	/* So many sharers that their count is in further pages (bpf/slots.bpf.h). */
	{"swap_crowd", "2 MiB paged out and shared by fork with 300 processes",
	 "a = swapped 2M; child*300 {}", .on_request = true},
	{"swap_comers", "2 MiB paged out and shared by fork, also with processes that come and go",
	 "a = swapped 2M; comer#*3 { forever { b = small 1M; fill b } }", .on_request = true,
	 .busy = true},
	/* zram keeps the pages in different ways. */
	{"swap_mixed", "16 MiB each, compressed in different ways: forked, shared",
	 "shmem { f = memfd 16M; a = shared f; fill_mixed a; out a } a = apart 16M; fill_mixed a;"
	 "out a; child {}",
	 .on_request = true},
	{},
};

/* ---- KSM ---- */

static long merging_pages(void)
{
	FILE *f = fopen("/proc/self/ksm_merging_pages", "re");
	long ret = -1;

	if (f && fscanf(f, "%ld", &ret) != 1)
		ret = -1;
	if (f)
		fclose(f);
	return ret;
}

static void need_ksm(void)
{
	FILE *f = fopen("/sys/kernel/mm/ksm/run", "re");

	if (!f)
		shape_lack("no KSM");
	if (fgetc(f) != '1')
		shape_skip("KSM is off");
	fclose(f);
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

const struct shape ksm_shapes[] = {
	{"ksm", "pages merged by KSM", "a = small 2M; merge a 0x5a"},
	/* Two programs that are not related by fork. */
	{"ksm_pair", "pages merged with those of ksm_pair2", "a = small 2M; merge a 0x5b"},
	{"ksm_pair2", "pages merged with those of ksm_pair", "a = small 2M; merge a 0x5b"},
	{"ksm_fork", "merged pages shared by fork, and in part written",
	 "a = small 2M; merge a 0x5c; child {} writer { fill a:.5M } fill a+.25M:.5M"},
	/* The child inherits merged pages without madvise(). */
	{"ksm_left", "merged pages shared by fork, unmerged by the parent",
	 "a = small 2M; merge a 0x5d; child { fill a:.25M } unmerge a"},
	{"ksm_child", "pages merged by a child only",
	 "a = small 1M; fill a; child { b = small 2M; merge b 0x5e }"},
	{},
};
