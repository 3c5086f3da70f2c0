// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* mkmem's shapes of pages merged by KSM. Each shape has its own content: shapes do not merge. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mkmem.h"

#define SIZE (2 * MIB)

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
		shape_skip("no KSM");
	if (fgetc(f) != '1')
		shape_skip("KSM is off");
	fclose(f);
}

static char *map_mergeable(int content)
{
	char *p = map_small(SIZE);

	memset(p, content, SIZE);
	if (madvise(p, SIZE, MADV_MERGEABLE))
		shape_fail("MADV_MERGEABLE");
	if (merging_pages() < 0)
		shape_before(519, "nothing tells what KSM merged");
	return p;
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

static void shape_ksm(void)
{
	need_ksm();
	map_mergeable(0x5a);
	wait_merged();
}

/* Two programs that are not related by fork. */
static void shape_ksm_pair(void)
{
	need_ksm();
	map_mergeable(0x5b);
	wait_merged();
}

static void shape_ksm_fork(void)
{
	static struct vma a;

	need_ksm();
	a = vma_of(map_mergeable(0x5c), SIZE / 4);
	wait_merged();
	role_start("child", NULL, NULL);
	role_start("writer", fill_vma, &a);
	fill(a.p + SIZE / 8, SIZE / 4);
}

/* The child inherits merged pages without madvise(); the parent has none left. */
static void shape_ksm_left(void)
{
	static struct vma a;

	need_ksm();
	a = vma_of(map_mergeable(0x5d), SIZE / 8);
	wait_merged();
	role_start("child", fill_vma, &a);
	if (madvise(a.p, SIZE, MADV_UNMERGEABLE))
		shape_fail("MADV_UNMERGEABLE");
}

static void merge_own(void *unused)
{
	(void)unused;
	map_mergeable(0x5e);
	wait_merged();
}

/* Only the child merges pages. */
static void shape_ksm_child(void)
{
	need_ksm();
	fill(map_small(MIB), MIB);
	role_start("child", merge_own, NULL);
}

const struct shape ksm_shapes[] = {
	{"ksm", "pages merged by KSM", shape_ksm},
	{"ksm_pair", "pages merged with those of ksm_pair2", shape_ksm_pair},
	{"ksm_pair2", "pages merged with those of ksm_pair", shape_ksm_pair},
	{"ksm_fork", "merged pages shared by fork, and in part written", shape_ksm_fork},
	{"ksm_left", "merged pages shared by fork, unmerged by the parent", shape_ksm_left},
	{"ksm_child", "pages merged by a child only", shape_ksm_child},
	{},
};
