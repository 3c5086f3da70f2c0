// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* mkmem's shapes of address spaces: places and numbers of mappings. */
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

#include "mkmem.h"

#define TIB ((size_t)1 << 40)

/* Unused by default; a multiple of what an entry of the top table of 4 levels maps. */
#define FREE_SPACE 0x100000000000
/* The end of user space with 3 or 4 levels of page tables. */
#define SPACE_END ((size_t)1 << 47)
/* The end with one level more. */
#ifdef __aarch64__
#define LARGE_SPACE_END ((size_t)1 << 52)
#else
#define LARGE_SPACE_END ((size_t)1 << 56)
#endif

/* ---- large and empty ---- */

static void shape_sparse(void)
{
	const size_t size = (size_t)1 << 40;
	char *p = map_memory(size, MAP_NORESERVE);

	madvise(p, size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < 64; i++)
		fill(p + i * (size / 64), PAGE);
}

static void shape_sparse_fork(void)
{
	static struct vma a;
	char *p = map_memory(8 * TIB, MAP_NORESERVE), *shared;

	madvise(p, 8 * TIB, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < 64; i++)
		fill(p + i * (8 * TIB / 64) + i * PAGE, PAGE);
	shared = map_memory(TIB, MAP_SHARED | MAP_NORESERVE);
	for (size_t i = 0; i < 16; i++)
		fill(shared + i * (TIB / 16), 2 * PAGE);
	a = vma_of(p + 40 * (8 * TIB / 64), 64 * PAGE);
	role_start("writer", fill_vma, &a);
	role_start("reader", touch_vma, &a);
}

/* Page tables that remain after their pages were freed. */
static void shape_emptied(void)
{
	char *p = map_memory(512 * HUGE, MAP_NORESERVE);

	madvise(p, 512 * HUGE, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < 256; i++)
		fill(p + i * 2 * HUGE, PAGE);
	for (size_t i = 0; i < 256; i++) {
		if (i % 16 && madvise(p + i * 2 * HUGE, PAGE, MADV_DONTNEED))
			shape_fail("MADV_DONTNEED");
	}
}

/* ---- many ---- */

static void shape_many_maps(void)
{
	const size_t pages = 2000;
	char *p = map_memory(pages * PAGE, 0);

	fill(p, pages * PAGE);
	/* Neighbours have different protections, so that each page is a VMA. */
	for (size_t i = 0; i < pages; i += 2) {
		if (mprotect(p + i * PAGE, PAGE, PROT_READ))
			shape_fail("mprotect");
	}
}

#define DEEP 20000

static char *deep;

static void write_some(void *unused)
{
	(void)unused;
	for (size_t i = 1; i < DEEP; i += 18)
		fill(deep + i * PAGE, PAGE);
	for (size_t i = 0; i < DEEP; i += 1000)
		munmap(deep + i * PAGE, PAGE);
}

/* So many VMAs that the maple tree has several levels; one in six has a page. */
static void shape_deep_maps(void)
{
	deep = map_small(DEEP * PAGE);
	for (size_t i = 1; i < DEEP; i += 6)
		fill(deep + i * PAGE, PAGE);
	for (size_t i = 0; i < DEEP; i += 2)
		protect(deep + i * PAGE, PAGE, PROT_READ);
	role_start("child", write_some, NULL);
}

/* ---- borders ---- */

static struct vma border[16];
static int borders;

static void place(uintptr_t at, size_t size)
{
	char *p = map_at(at, size);

	if (!p)
		shape_fail("a mapping at an address");
	border[borders++] = vma_of(p, size);
	fill(p, size);
}

static void write_borders(void *unused)
{
	(void)unused;
	for (int i = 0; i < borders; i++)
		fill(border[i].p, border[i].size / 2);
}

/* Mappings that end at, begin at and cross the border of a table of each level. */
static void shape_borders(void)
{
	const uintptr_t at = FREE_SPACE;
	const size_t levels[] = {HUGE, ENTRIES * HUGE, ENTRIES * ENTRIES * HUGE};

	for (int i = 0; i < 3; i++) {
		uintptr_t here = at + i * 4 * TIB;

		if (here + 5 * levels[i] > SPACE_END)
			break;
		place(here + levels[i] - 6 * PAGE, 6 * PAGE);
		place(here + 2 * levels[i], 6 * PAGE);
		place(here + 4 * levels[i] - 6 * PAGE, 12 * PAGE);
	}
	/* Neighbours with the border between them. */
	place(at + 20 * TIB - 4 * PAGE, 4 * PAGE);
	place(at + 20 * TIB, 4 * PAGE);
	role_start("writer", write_borders, NULL);
	protect((char *)at + 20 * TIB, 4 * PAGE, PROT_READ);
}

/* The lowest and the highest address that can be mapped. */
static void shape_ends(void)
{
	const uintptr_t top = SPACE_END - PAGE, top5 = LARGE_SPACE_END - PAGE;
	unsigned long low = PAGE;
	FILE *f = fopen("/proc/sys/vm/mmap_min_addr", "re");
	uintptr_t at;
	char *p = NULL;

	if (f && fscanf(f, "%lu", &low) != 1)
		low = PAGE;
	if (f)
		fclose(f);
	place(low > PAGE ? low : PAGE, 4 * PAGE);
	/* The stack and the vdso are somewhere near. */
	for (at = top - 4 * PAGE; !p && at > top - GIB; at -= PAGE)
		p = map_at(at, 4 * PAGE);
	if (!p)
		shape_fail("nothing is free at the top");
	fill(p, 4 * PAGE);
	/* With 5 levels: the end, and across an entry of the top table. */
	p = map_at(top5 - 4 * PAGE, 4 * PAGE);
	if (p) {
		fill(p, 4 * PAGE);
		place(((uintptr_t)1 << 48) - 4 * PAGE, 8 * PAGE);
		place((uintptr_t)3 << 48, 4 * PAGE);
	}
	role_start("writer", write_borders, NULL);
}

const struct shape maps_shapes[] = {
	{"sparse", "1 TiB reserved, 64 pages touched", shape_sparse},
	{"sparse_fork", "8 TiB and 1 TiB reserved, some pages, forked", shape_sparse_fork},
	{"emptied", "page tables that have lost their pages", shape_emptied},
	{"many_maps", "2,000 mappings", shape_many_maps},
	{"deep_maps", "20,000 mappings, forked", shape_deep_maps},
	{"borders", "mappings at the borders of page tables", shape_borders},
	{"ends", "the lowest and the highest addresses", shape_ends},
	{},
};
