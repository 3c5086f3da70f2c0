// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* mkmem's shapes of memory that is swapped out. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mkmem.h"

static void need_swap(void)
{
	if (file_number("/proc/meminfo", "SwapTotal") <= 0)
		shape_skip("no swap");
}

/* MADV_PAGEOUT skips pages that several processes map. */
static void page_out(char *p, size_t size)
{
	size_t before = rollup_bytes("Swap");

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

static void shape_swap(void)
{
	char *p;

	need_swap();
	p = map_small(10 * MIB);
	fill(p, 10 * MIB);
	page_out(p, 8 * MIB);
}

/* ---- swap entries shared by fork ---- */

static void shape_swap_fork(void)
{
	struct vma a = {NULL, 8 * MIB};

	need_swap();
	a.p = map_swapped(a.size);
	role_start("child", NULL, NULL);
	a.size = 2 * MIB;
	role_start("reader", touch_vma, &a);
	role_start("writer", fill_vma, &a);
}

static char *half;

static void swap_in_half(void *unused)
{
	(void)unused;
	touch(half, MIB);
	fill(half + MIB, MIB / 2);
}

static void shape_swap_half(void)
{
	need_swap();
	half = map_swapped(4 * MIB);
	role_start("child", swap_in_half, NULL);
	touch(half + MIB / 2, MIB);
	fill(half + 2 * MIB, MIB / 2);
	role_start("late_child", swap_in_half, NULL);
}

/* Swap entries that were shared and now belong to one process. */
static void shape_swap_exec(void)
{
	need_swap();
	map_swapped(2 * MIB);
	role_start("exec", role_exec, NULL);
}

static void shape_swap_left(void)
{
	char *p;

	need_swap();
	p = map_swapped(2 * MIB);
	role_start("child", NULL, NULL);
	munmap(p, 2 * MIB);
}

/* ---- swapped, but not shared ---- */

static void swap_own(void *unused)
{
	(void)unused;
	map_swapped(2 * MIB);
}

/* Resident memory is shared by fork; swapped memory is private to each process. */
static void shape_swap_own(void)
{
	char *alone;

	need_swap();
	fill(map_apart(2 * MIB), 2 * MIB);
	alone = map_small(MIB);
	fill(alone, MIB);
	if (madvise(alone, MIB, MADV_DONTFORK))
		shape_fail("MADV_DONTFORK");
	page_out(alone, MIB);
	role_start("child", swap_own, NULL);
	role_start("child2", NULL, NULL);
	map_swapped(2 * MIB);
}

static void shape_swap_none(void)
{
	char *p;

	need_swap();
	p = map_swapped(3 * MIB);
	touch(p, MIB);
	protect(p + MIB / 2, MIB, PROT_NONE);
	protect(p + 2 * MIB, MIB / 2, PROT_READ);
}

static void shape_swap_thp(void)
{
	char *p = map_aligned(3 * HUGE);

	need_swap();
	madvise(p, 3 * HUGE, MADV_HUGEPAGE);
	fill(p, 3 * HUGE);
	page_out(p, 2 * HUGE);
	page_out(p + 2 * HUGE, HUGE / 2);
	touch(p + HUGE / 2, HUGE);
}

static void shape_swap_file(void)
{
	char *p;

	need_swap();
	p = map_fd(temp_file(2 * MIB), 2 * MIB, MAP_PRIVATE);
	fill(p, 2 * MIB);
	page_out(p, MIB);
}

/* ---- shared memory ---- */

static void shape_swap_shmem(void)
{
	struct vma a = {NULL, 8 * MIB};

	need_swap();
	a.p = map_memory(a.size, MAP_SHARED);
	fill_vma(&a);
	page_out(a.p, a.size);
	role_start("child", NULL, NULL);
	a.size = MIB;
	role_start("reader", touch_vma, &a);
}

static void keep_quarter(void *vma)
{
	const struct vma *a = vma;

	munmap(a->p + a->size / 4, a->size - a->size / 4);
	touch(a->p, a->size / 8);
}

/* The same swapped pages are mapped in full, in part, and under private pages. */
static void shape_swap_memfd(void)
{
	struct vma a = {NULL, 4 * MIB};
	int fd = memfd_create("mkmem", 0);
	char *private;

	need_swap();
	if (fd < 0 || ftruncate(fd, a.size))
		shape_fail("memfd");
	a.p = map_fd(fd, a.size, MAP_SHARED);
	fill_vma(&a);
	page_out(a.p, a.size);
	role_start("quarter", keep_quarter, &a);
	private = map_fd(fd, a.size, MAP_PRIVATE);
	fill(private, MIB);
	page_out(private, MIB / 2);
}

/* ---- 160 MiB in swap with different owners ---- */

#define BOOKS_SIZE (40 * MIB)

static void books_private(void *unused)
{
	(void)unused;
	map_swapped(BOOKS_SIZE);
}

static void books_shmem(void *unused)
{
	char *p = map_memory(BOOKS_SIZE, MAP_SHARED);

	(void)unused;
	fill(p, BOOKS_SIZE);
	page_out(p, BOOKS_SIZE);
}

/* A file of a tmpfs that no process maps. */
static void books_tmpfs(void *unused)
{
	int fd = memfd_create("mkmem", 0);
	char *p;

	(void)unused;
	if (fd < 0 || ftruncate(fd, BOOKS_SIZE))
		shape_fail("memfd");
	p = map_fd(fd, BOOKS_SIZE, MAP_SHARED);
	fill(p, BOOKS_SIZE);
	page_out(p, BOOKS_SIZE);
	munmap(p, BOOKS_SIZE);
}

static void shape_swap_books(void)
{
	need_swap();
	role_start("private", books_private, NULL);
	role_start("shmem", books_shmem, NULL);
	role_start("tmpfs", books_tmpfs, NULL);
	map_swapped(BOOKS_SIZE);
	role_start("child", NULL, NULL);
}

/* ---- on request ---- */

#define CROWD	   300
#define CROWD_SIZE (2 * MIB)

/* So many sharers that their count is in further pages (bpf/slots.bpf.h). */
static void shape_swap_crowd(void)
{
	need_swap();
	map_swapped(CROWD_SIZE);
	for (int i = 0; i < CROWD; i++)
		role_start("child", NULL, NULL);
}

#define MIXED_SIZE (16 * MIB)

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

static void mixed_shmem(void *unused)
{
	int fd = memfd_create("mkmem", 0);
	char *p;

	(void)unused;
	if (fd < 0 || ftruncate(fd, MIXED_SIZE))
		shape_fail("memfd");
	p = map_fd(fd, MIXED_SIZE, MAP_SHARED);
	fill_mixed(p, MIXED_SIZE);
	page_out(p, MIXED_SIZE);
}

/* Pages that zram keeps in different ways: private, shared by fork, shared memory. */
static void shape_swap_mixed(void)
{
	char *p;

	need_swap();
	role_start("shmem", mixed_shmem, NULL);
	p = map_apart(MIXED_SIZE);
	fill_mixed(p, MIXED_SIZE);
	page_out(p, MIXED_SIZE);
	role_start("child", NULL, NULL);
}

const struct shape swap_shapes[] = {
	{"swap", "private memory paged out", shape_swap},
	{"swap_fork", "memory paged out and shared by fork", shape_swap_fork},
	{"swap_half", "the same, some of it back again here and there", shape_swap_half},
	{"swap_exec", "was shared with a child that is another program now", shape_swap_exec},
	{"swap_left", "paged out, shared by fork, unmapped by the parent", shape_swap_left},
	{"swap_own", "memory shared by fork, other memory paged out", shape_swap_own},
	{"swap_none", "paged out, then PROT_NONE and read only", shape_swap_none},
	{"swap_thp", "huge pages paged out", shape_swap_thp},
	{"swap_file", "written private pages of a file paged out", shape_swap_file},
	{"swap_shmem", "shared memory paged out", shape_swap_shmem},
	{"swap_memfd", "a memfd paged out, mapped whole, in part, private", shape_swap_memfd},
	{"swap_books", "40 MiB each: private, forked, shared, on a tmpfs alone", shape_swap_books,
	 .on_request = true},
	{"swap_crowd", "2 MiB paged out and shared by fork with 300 processes", shape_swap_crowd,
	 .on_request = true},
	{"swap_mixed", "16 MiB each, compressed in different ways: forked, shared",
	 shape_swap_mixed, .on_request = true},
	{},
};
