// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* mkmem's shapes of basic kinds of memory. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mkmem.h"

static void shape_anon(void)
{
	char *p = map_memory(16 * MIB, 0);

	/* Half of it in small pages, whatever the machine's THP setting. */
	madvise(p, 8 * MIB, MADV_NOHUGEPAGE);
	fill(p, 16 * MIB);
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

/* Soft-dirty tracking makes entries read only and marks them. */
static void shape_clear_refs(void)
{
	static struct vma a;
	int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		shape_skip("no clear_refs");
	a = vma_of(map_small(2 * MIB), MIB);
	fill_vma(&a);
	touch(map_memory(2 * MIB, MAP_SHARED), MIB);
	if (write(fd, "4", 1) != 1 && errno != EINVAL)
		shape_fail("clear_refs");
	fill(a.p, MIB / 4);
	role_start("writer", fill_vma, &a);
}

/* ---- hugetlb ---- */

/* Maps hugetlb pages and returns the size of one. */
static char *map_hugetlb(int count, int flags, size_t *ret_size)
{
	long kib = file_number("/proc/meminfo", "Hugepagesize");
	char *p;

	if (kib <= 0)
		shape_skip("no hugetlb pages");
	if (file_number("/proc/meminfo", "HugePages_Free") < count)
		shape_skip("no hugetlb pages are reserved");
	*ret_size = kib * KIB;
	p = mmap(NULL, count * *ret_size, PROT_READ | PROT_WRITE,
		 MAP_ANONYMOUS | MAP_HUGETLB | flags, -1, 0);
	if (p == MAP_FAILED)
		shape_skip("cannot map hugetlb pages");
	for (int i = 0; i < count; i++)
		fill(p + i * *ret_size, PAGE);
	return p;
}

static void shape_hugetlb(void)
{
	size_t size;

	map_hugetlb(2, MAP_PRIVATE, &size);
}

static void shape_hugetlb_fork(void)
{
	static struct vma a;
	size_t size;

	a = vma_of(map_hugetlb(1, MAP_PRIVATE, &size), PAGE);
	role_start("writer", fill_vma, &a);
	role_start("child", NULL, NULL);
}

static void shape_hugetlb_shared(void)
{
	static struct vma a;
	size_t size;

	a = vma_of(map_hugetlb(2, MAP_SHARED, &size), PAGE);
	role_start("sharer", touch_vma, &a);
	protect(a.p, size, PROT_READ);
}

const struct shape memory_shapes[] = {
	{"anon", "16 MiB private anonymous memory", shape_anon},
	{"prot_none", "touched, then PROT_NONE", shape_prot_none},
	{"mlock", "locked memory", shape_mlock},
	{"zero", "nothing but read: zero pages", shape_zero},
	{"madv_free", "touched, then MADV_FREE", shape_madv_free},
	{"clear_refs", "pages whose writes are watched", shape_clear_refs},
	{"hugetlb", "two hugetlb pages", shape_hugetlb},
	{"hugetlb_fork", "a hugetlb page shared by fork, and written", shape_hugetlb_fork},
	{"hugetlb_shared", "shared hugetlb pages", shape_hugetlb_shared},
	{},
};
