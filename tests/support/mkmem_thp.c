// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* mkmem's shapes of anonymous transparent huge pages: mapped whole, in part, by PMD and by PTEs. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mkmem.h"

#define THP "/sys/kernel/mm/transparent_hugepage/"

/* Skips where not even MADV_HUGEPAGE gets a huge page. */
static void need_thp(void)
{
	char text[64] = "";
	FILE *f = fopen(THP "enabled", "re");

	if (!f)
		shape_lack("no transparent huge pages");
	if (!fgets(text, sizeof(text), f) || strstr(text, "[never]"))
		shape_skip("transparent huge pages are off");
	fclose(f);
}

/* Maps and writes that many huge pages; else ends the shape. */
static char *map_huge(size_t count)
{
	size_t size = count * HUGE, before = rollup_bytes("AnonHugePages");
	char *p = map_aligned(size);

	need_thp();
	if (madvise(p, size, MADV_HUGEPAGE))
		shape_fail("MADV_HUGEPAGE");
	for (size_t i = 0; i < count; i++) {
		fill(p + i * HUGE, HUGE);
		/* Memory may be fragmented: compacts it. */
		if (rollup_bytes("AnonHugePages") < before + (i + 1) * HUGE)
			collapse(p + i * HUGE, HUGE);
	}
	errno = 0;
	if (rollup_bytes("AnonHugePages") < before + size)
		shape_skip("no huge pages are free");
	return p;
}

static char *thp;

static void shape_thp(void)
{
	static struct vma a;

	/* One in part, one shared and in part written, two shared whole. */
	a = vma_of(map_huge(4), HUGE / 2);
	munmap(a.p + 3 * HUGE + HUGE / 4, HUGE / 4);
	role_start("writer", fill_vma, &a);
	role_start("sharer", NULL, NULL);
}

static void shape_thp_private(void)
{
	char *p = map_huge(3), *to = map_aligned(HUGE);

	/* Moved with its table, and locked. */
	if (mremap(p, HUGE, HUGE, MREMAP_MAYMOVE | MREMAP_FIXED, to) != to)
		shape_fail("mremap");
	if (mlock(p + HUGE, HUGE))
		shape_skip("mlock is not allowed");
}

/* ---- mapped by PMD in one process, by PTEs or less in another ---- */

/* Cuts each of the five pages of thp differently. `shift` (pages) varies it by process. */
static void cut(size_t shift)
{
	shift *= PAGE;
	munmap(thp + shift, 100 * PAGE);
	protect(thp + HUGE + shift, 100 * PAGE, PROT_READ);
	if (madvise(thp + 2 * HUGE + shift, 100 * PAGE, MADV_DONTNEED))
		shape_fail("MADV_DONTNEED");
	fill(thp + 3 * HUGE + shift, 100 * PAGE);
	protect(thp + 4 * HUGE + shift, 100 * PAGE, PROT_NONE);
}

static void cut_begin(void *unused)
{
	(void)unused;
	cut(0);
}

static void cut_end(void *unused)
{
	(void)unused;
	cut(412);
}

static void cut_middle(void *unused)
{
	(void)unused;
	cut(77);
}

static void shape_thp_child(void)
{
	thp = map_huge(5);
	role_start("child", cut_begin, NULL);
}

static void shape_thp_parent(void)
{
	thp = map_huge(5);
	role_start("child", NULL, NULL);
	cut_middle(NULL);
}

static void shape_thp_both(void)
{
	thp = map_huge(5);
	role_start("child", cut_begin, NULL);
	role_start("child2", cut_end, NULL);
	cut_middle(NULL);
	role_start("late_child", NULL, NULL);
}

/* ---- by PTEs ---- */

static void shape_thp_pte(void)
{
	const size_t part = 50 * PAGE;
	char *p = map_huge(4), *to = map_small(HUGE);

	protect(p, PAGE, PROT_READ);
	/* Only its tail pages, only its head. */
	munmap(p + HUGE, PAGE);
	munmap(p + 2 * HUGE + PAGE, HUGE - PAGE);
	/* Moves a piece to an address that is unaligned for a huge page. */
	to += 3 * PAGE;
	if (mremap(p + 3 * HUGE + part, part, part, MREMAP_MAYMOVE | MREMAP_FIXED, to) != to)
		shape_fail("mremap");
	role_start("child", NULL, NULL);
	fill(to, part / 2);
}

static void shape_thp_none(void)
{
	char *p = map_huge(2);
	size_t before = rollup_bytes("Rss");

	protect(p, HUGE, PROT_NONE);
	if (rollup_bytes("Rss") < before)
		shape_before(606, "smaps_rollup leaves out huge pages that are PROT_NONE");
	role_start("child", NULL, NULL);
}

static void shape_thp_free(void)
{
	char *p = map_huge(3);

	if (madvise(p, HUGE, MADV_FREE) || madvise(p + HUGE, HUGE / 2, MADV_FREE))
		shape_fail("MADV_FREE");
	role_start("child", NULL, NULL);
}

/* Small pages that this process collapsed into a huge page while others keep small ones. */
static void shape_thp_collapse(void)
{
	char *p = map_aligned(HUGE);

	need_thp();
	madvise(p, HUGE, MADV_NOHUGEPAGE);
	fill(p, HUGE);
	madvise(p, HUGE, MADV_HUGEPAGE);
	role_start("child", NULL, NULL);
	fill(p, HUGE / 2);
	if (!collapse(p, HUGE)) {
		if (errno == EINVAL)
			shape_before(601, "no MADV_COLLAPSE");
		shape_fail("MADV_COLLAPSE");
	}
}

/* ---- the huge zero page ---- */

static void shape_thp_zero(void)
{
	static struct vma a;
	char *p = map_aligned(5 * HUGE);

	need_thp();
	if (madvise(p, 5 * HUGE, MADV_HUGEPAGE))
		shape_fail("MADV_HUGEPAGE");
	touch(p, 5 * HUGE);
	/* Split into as many small zero pages, in part; one huge page written. */
	protect(p + HUGE, HUGE / 4, PROT_READ);
	munmap(p + 2 * HUGE, HUGE / 4);
	fill(p + 3 * HUGE, PAGE);
	a = vma_of(p, PAGE);
	role_start("writer", fill_vma, &a);
	protect(p + 4 * HUGE, HUGE, PROT_NONE);
}

const struct shape thp_shapes[] = {
	{"thp", "transparent huge pages: whole, in part, shared by fork", shape_thp},
	{"thp_private", "huge pages, one moved, one locked", shape_thp_private},
	{"thp_child", "huge pages shared by fork, cut by the child", shape_thp_child},
	{"thp_parent", "huge pages shared by fork, cut by the parent", shape_thp_parent},
	{"thp_both", "huge pages shared by fork, cut by all in different ways", shape_thp_both},
	{"thp_pte", "huge pages mapped by small entries", shape_thp_pte},
	{"thp_none", "a huge page that is PROT_NONE", shape_thp_none},
	{"thp_free", "huge pages with MADV_FREE", shape_thp_free},
	{"thp_collapse", "small pages made a huge one, still shared small", shape_thp_collapse},
	{"thp_zero", "the huge zero page, whole and split", shape_thp_zero},
	{},
};
