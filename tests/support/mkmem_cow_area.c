// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* mkmem's shapes of memory shared by fork: what happens to the VMAs before and after. */
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mkmem.h"

#define PART (MIB / 2)

/* One VMA for each operation, inherited by the roles. */
#define VMAS 8

static char *vma[VMAS];

static void vmas_begin(int count, size_t size)
{
	for (int i = 0; i < count; i++) {
		vma[i] = map_apart(size);
		fill(vma[i], size);
	}
}

static void advise(char *p, size_t size, int advice)
{
	if (madvise(p, size, advice))
		shape_fail("madvise");
}

/* ---- what fork leaves out ---- */

static void write_wiped(void *unused)
{
	(void)unused;
	fill(vma[1], PART);
}

static void shape_cow_dontfork(void)
{
	vmas_begin(3, 2 * PART);
	advise(vma[0], 2 * PART, MADV_DONTFORK);
	advise(vma[1], 2 * PART, MADV_WIPEONFORK);
	advise(vma[2] + PART / 2, PART, MADV_DONTFORK);
	role_start("child", write_wiped, NULL);
	advise(vma[0], PART, MADV_DOFORK);
	role_start("child2", NULL, NULL);
}

/* ---- VMAs made after the fork ---- */

static void map_new(void *unused)
{
	char *heap = sbrk(0), *p;

	(void)unused;
	fill(map_small(PART), PART);
	/* The new half of a VMA shared by fork, and the part of the heap that is new. */
	p = mremap(vma[0], PART, 2 * PART, MREMAP_MAYMOVE);
	if (p == MAP_FAILED || brk(heap + PART))
		shape_fail("mremap or brk");
	fill(p + PART, PART);
	fill((char *)(((uintptr_t)heap + PAGE - 1) & ~(PAGE - 1)), PART - PAGE);
}

static void shape_cow_after(void)
{
	char *heap = sbrk(0);

	vmas_begin(1, PART);
	if (brk(heap + PART))
		shape_fail("brk");
	fill((char *)(((uintptr_t)heap + PAGE - 1) & ~(PAGE - 1)), PART - PAGE);
	role_start("child", map_new, NULL);
	role_start("child2", NULL, NULL);
	map_new(NULL);
	role_start("late_child", NULL, NULL);
	fill(map_small(PART), PART);
}

/* Mapped before the fork, touched after it: not shared. */
static void shape_cow_lazy(void)
{
	static struct vma a;

	a = vma_of(map_small(3 * PART), 2 * PART);
	fill(a.p + 2 * PART, PAGE);
	role_start("child", fill_vma, &a);
	fill(a.p, PART);
	role_start("reader", touch_vma, &a);
}

/* ---- VMAs that were split ---- */

/* Cuts the middle out of the VMAs in several ways, each process at another place. */
static void split(size_t shift)
{
	protect(vma[0] + shift, 64 * PAGE, PROT_READ);
	protect(vma[1] + shift, 64 * PAGE, PROT_NONE);
	munmap(vma[2] + shift, 64 * PAGE);
	advise(vma[3] + shift, 64 * PAGE, MADV_DONTNEED);
	/* Splits the inherited VMA and writes one page of each part. */
	for (size_t i = 0; i < 64; i += 2) {
		protect(vma[4] + shift + i * PAGE, PAGE, PROT_READ);
		fill(vma[4] + shift + (i + 1) * PAGE, PAGE);
	}
	advise(vma[5] + shift, 64 * PAGE, MADV_FREE);
}

static void split_child(void *unused)
{
	(void)unused;
	split(32 * PAGE);
}

static void shape_cow_split(void)
{
	vmas_begin(6, PART);
	protect(vma[0] + 100 * PAGE, 17 * PAGE, PROT_READ);
	role_start("child", split_child, NULL);
	role_start("child2", NULL, NULL);
	split(60 * PAGE);
	role_start("late_child", split_child, NULL);
}

/* ---- VMAs that were moved ---- */

static char *move(char *p, size_t size, size_t new_size, int flags)
{
	char *to = map_small(new_size + PAGE) + PAGE;

	p = mremap(p, size, new_size, MREMAP_MAYMOVE | MREMAP_FIXED | flags, to);
	if (p == MAP_FAILED)
		shape_fail("mremap");
	return p;
}

static void move_vmas(void *unused)
{
	(void)unused;
	fill(move(vma[0], PART, PART, 0), PART / 4);
	/* The old place stays as an empty VMA and is reused. */
	move(vma[1], PART, PART, MREMAP_DONTUNMAP);
	fill(vma[1], PART / 8);
	move(vma[2] + PART / 4, PART / 2, PART / 2, 0);
	move(vma[3], PART, PART / 2, 0);
}

static void shape_cow_mremap(void)
{
	vmas_begin(5, PART);
	vma[4] = move(vma[4], PART, 2 * PART, 0);
	fill(vma[4] + PART, PART / 2);
	role_start("child", move_vmas, NULL);
	role_start("child2", NULL, NULL);
	move_vmas(NULL);
	fill(vma[4], PART / 4);
	role_start("late_child", NULL, NULL);
}

/* ---- locked ---- */

static void lock_some(void *unused)
{
	(void)unused;
	if (mlock(vma[1], PART))
		shape_skip("mlock is not allowed");
}

static void shape_cow_mlock(void)
{
	vmas_begin(2, 2 * PART);
	if (mlock(vma[0], PART))
		shape_skip("mlock is not allowed");
	role_start("child", NULL, NULL);
	/* Locking writable memory breaks copy-on-write, as a write does. */
	role_start("locker", lock_some, NULL);
}

const struct shape cow_vma_shapes[] = {
	{"cow_dontfork", "VMAs that fork leaves out or empties", shape_cow_dontfork},
	{"cow_after", "VMAs mapped or grown after the fork", shape_cow_after},
	{"cow_lazy", "a VMA first touched after the fork", shape_cow_lazy},
	{"cow_split", "VMAs split after the fork by mprotect, munmap, madvise", shape_cow_split},
	{"cow_mremap", "VMAs moved before and after the fork", shape_cow_mremap},
	{"cow_mlock", "VMAs locked before and after the fork", shape_cow_mlock},
	{},
};
