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

static struct border {
	char *p;
	size_t size;
} border[16];
static int borders;

static void place(uintptr_t at, size_t size)
{
	char *p = map_at(at, size);

	if (!p)
		shape_fail("a mapping at an address");
	border[borders++] = (struct border){p, size};
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
	{"sparse", "1 TiB reserved, 64 pages touched",
	 "a = reserved 1T; nohuge a; fill a/.015625T"},
	{"sparse_fork", "8 TiB and 1 TiB reserved, some pages, forked",
	 "a = reserved 8T; nohuge a; fill a/.125T+1P; s = shared_reserved 1T; fill s/.0625T;"
	 "fill s+1P/.0625T; writer { fill a+5T:64P } reader { touch a+5T:64P }"},
	/* Page tables that remain after their pages were freed. */
	{"emptied", "page tables that have lost their pages",
	 "a = reserved 512H; nohuge a; fill a/2H; drop a/2H; fill a/32H"},
	/* Neighbours have different protections, so that each page is a VMA. */
	{"many_maps", "2,000 mappings", "a = memory 2000P; fill a; readonly a/2P"},
	/* So many VMAs that the maple tree has several levels; one in six has a page. */
	{"deep_maps", "20,000 mappings, forked",
	 "a = small 20000P; fill a+1P/6P; readonly a/2P; child { fill a+1P/18P; unmap a/1000P }"},
	{"borders", "mappings at the borders of page tables", .run = shape_borders},
	{"ends", "the lowest and the highest addresses", .run = shape_ends},
	{},
};
