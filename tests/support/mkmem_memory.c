// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* mkmem's shapes that are a kind of memory. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mkmem.h"

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21
#endif

#define HUGE (2 * MIB)

struct area {
	char *p;
	size_t size;
};

static void touch_area(void *arg)
{
	const struct area *a = arg;

	touch(a->p, a->size);
}

static void fill_area(void *arg)
{
	const struct area *a = arg;

	fill(a->p, a->size);
}

static void shape_anon(void)
{
	char *p = map_memory(16 * MIB, 0);

	/* Half of it in small pages, whatever the machine's THP setting. */
	madvise(p, 8 * MIB, MADV_NOHUGEPAGE);
	fill(p, 16 * MIB);
}

static int temp_file(size_t size)
{
	const char *dir = getenv("TMPDIR");
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/mkmem.XXXXXX", dir ? dir : "/tmp");
	fd = mkstemp(path);
	if (fd < 0)
		shape_fail("mkstemp");
	unlink(path);
	if (ftruncate(fd, size))
		shape_fail("ftruncate");
	return fd;
}

static char *map_fd(int fd, size_t size, int flags)
{
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (p == MAP_FAILED)
		shape_fail("mmap of a file");
	return p;
}

static void shape_file(void)
{
	int fd = temp_file(4 * MIB);
	struct area shared = {map_fd(fd, 4 * MIB, MAP_SHARED), 4 * MIB};
	char *private = map_fd(fd, 4 * MIB, MAP_PRIVATE);

	fill_area(&shared);
	touch(private, 4 * MIB);
	fill(private, MIB);
	shared.size = 2 * MIB;
	role_start("sharer", touch_area, &shared);
}

static void shape_shmem(void)
{
	struct area whole = {map_memory(8 * MIB, MAP_SHARED), 8 * MIB};
	char *half = map_memory(8 * MIB, MAP_SHARED);

	fill_area(&whole);
	fill(half, 4 * MIB);
	whole.size = 2 * MIB;
	role_start("sharer", touch_area, &whole);
}

static void shape_memfd2(void)
{
	int fd = memfd_create("mkmem twice", 0);

	if (fd < 0 || ftruncate(fd, 4 * MIB))
		shape_fail("memfd");
	fill(map_fd(fd, 4 * MIB, MAP_SHARED), 4 * MIB);
	touch(map_fd(fd, 4 * MIB, MAP_SHARED), 4 * MIB);
}

static void shape_prot_none(void)
{
	char *p = map_memory(8 * MIB, 0);

	/* smaps_rollup of older kernels (6.1) leaves out huge pages that are PROT_NONE. */
	madvise(p, 8 * MIB, MADV_NOHUGEPAGE);
	fill(p, 8 * MIB);
	if (mprotect(p, 4 * MIB, PROT_NONE))
		shape_fail("mprotect");
}

static void shape_mlock(void)
{
	char *p = map_memory(4 * MIB, 0);

	if (mlock(p, 4 * MIB))
		shape_skip("mlock is not allowed");
}

static void shape_zero(void)
{
	char *p = map_memory(8 * MIB, 0);

	/* The zero page and, where THP is on, the huge zero page. */
	madvise(p, 4 * MIB, MADV_NOHUGEPAGE);
	madvise(p + 4 * MIB, 4 * MIB, MADV_HUGEPAGE);
	touch(p, 8 * MIB);
}

static void shape_madv_free(void)
{
	char *p = map_memory(8 * MIB, 0);

	fill(p, 8 * MIB);
	if (madvise(p, 4 * MIB, MADV_FREE))
		shape_fail("MADV_FREE");
}

static void shape_sparse(void)
{
	const size_t size = (size_t)1 << 40;
	char *p = map_memory(size, MAP_NORESERVE);

	madvise(p, size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < 64; i++)
		fill(p + i * (size / 64), 4096);
}

static void shape_many_maps(void)
{
	const size_t pages = 2000;
	char *p = map_memory(pages * 4096, 0);

	fill(p, pages * 4096);
	/* Neighbours differ, so that each page is a mapping. */
	for (size_t i = 0; i < pages; i += 2) {
		if (mprotect(p + i * 4096, 4096, PROT_READ))
			shape_fail("mprotect");
	}
}

static void shape_thp(void)
{
	struct area a = {map_memory(5 * HUGE, 0), 4 * HUGE};

	a.p = (char *)(((uintptr_t)a.p + HUGE - 1) & ~(HUGE - 1));
	if (madvise(a.p, a.size, MADV_HUGEPAGE))
		shape_skip("no transparent huge pages");
	fill_area(&a);
	/* One in part, one shared and in part written, two shared whole. */
	munmap(a.p + 3 * HUGE + HUGE / 4, HUGE / 4);
	a.size = HUGE / 2;
	role_start("writer", fill_area, &a);
	role_start("sharer", NULL, NULL);
}

static void shape_hugetlb(void)
{
	long kib = file_number("/proc/meminfo", "Hugepagesize");
	size_t size = kib > 0 ? 2 * kib * KIB : 0;
	char *p;

	if (!size || file_number("/proc/meminfo", "HugePages_Free") < 2)
		shape_skip("no hugetlb pages are reserved");
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1,
		 0);
	if (p == MAP_FAILED)
		shape_skip("cannot map hugetlb pages");
	fill(p, size);
}

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

static void shape_ksm(void)
{
	const size_t size = 2 * MIB;
	long merged = 0, before = -1;
	char *p;
	FILE *f;

	f = fopen("/sys/kernel/mm/ksm/run", "re");
	if (!f || fgetc(f) != '1')
		shape_skip("KSM is off");
	fclose(f);
	p = map_memory(size, 0);
	madvise(p, size, MADV_NOHUGEPAGE);
	memset(p, 0x5a, size);
	if (madvise(p, size, MADV_MERGEABLE) || merging_pages() < 0)
		shape_skip("no KSM");
	/* Until it stands still for a second. */
	for (int i = 0; i < 40 && (merged <= 0 || merged != before); i++) {
		before = merged;
		sleep(1);
		merged = merging_pages();
	}
	if (merged <= 0)
		shape_skip("KSM did not merge in time");
}

/* ---- swapped out ---- */

static void need_swap(void)
{
	if (file_number("/proc/meminfo", "SwapTotal") <= 0)
		shape_skip("no swap");
}

static void page_out(char *p, size_t size)
{
	for (int try = 0; try < 50; try++) {
		if (madvise(p, size, MADV_PAGEOUT))
			shape_skip("no MADV_PAGEOUT");
		if (file_number("/proc/self/smaps_rollup", "Swap") * (long)KIB >=
		    (long)(size - size / 16))
			return;
		usleep(20000);
	}
	errno = 0;
	shape_fail("the kernel does not page it out");
}

static void shape_swap(void)
{
	char *p;

	need_swap();
	p = map_memory(10 * MIB, 0);
	madvise(p, 10 * MIB, MADV_NOHUGEPAGE);
	fill(p, 10 * MIB);
	page_out(p, 8 * MIB);
}

static void shape_swap_fork(void)
{
	struct area a = {NULL, 8 * MIB};

	need_swap();
	a.p = map_memory(a.size, 0);
	madvise(a.p, a.size, MADV_NOHUGEPAGE);
	fill_area(&a);
	/* Pages that several map are not paged out on advice, swap entries are inherited. */
	page_out(a.p, a.size);
	role_start("child", NULL, NULL);
	a.size = 2 * MIB;
	role_start("reader", touch_area, &a);
	role_start("writer", fill_area, &a);
}

static void shape_swap_shmem(void)
{
	struct area a = {NULL, 8 * MIB};

	need_swap();
	a.p = map_memory(a.size, MAP_SHARED);
	fill_area(&a);
	page_out(a.p, a.size);
	role_start("child", NULL, NULL);
	a.size = MIB;
	role_start("reader", touch_area, &a);
}

const struct shape memory_shapes[] = {
	{"anon", "16 MiB private anonymous memory", shape_anon},
	{"file", "a file mapped shared, and private and in part written", shape_file},
	{"shmem", "shared anonymous memory, wholly and half touched", shape_shmem},
	{"memfd2", "a memfd mapped twice", shape_memfd2},
	{"prot_none", "touched, then PROT_NONE", shape_prot_none},
	{"mlock", "locked memory", shape_mlock},
	{"zero", "nothing but read: zero pages", shape_zero},
	{"madv_free", "touched, then MADV_FREE", shape_madv_free},
	{"sparse", "1 TiB reserved, 64 pages touched", shape_sparse},
	{"many_maps", "2,000 mappings", shape_many_maps},
	{"thp", "transparent huge pages: whole, in part, shared by fork", shape_thp},
	{"hugetlb", "two hugetlb pages", shape_hugetlb},
	{"ksm", "pages merged by KSM", shape_ksm},
	{"swap", "private memory paged out", shape_swap},
	{"swap_fork", "memory paged out and shared by fork", shape_swap_fork},
	{"swap_shmem", "shared memory paged out", shape_swap_shmem},
	{},
};
