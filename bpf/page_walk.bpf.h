/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Measures the PSS of an mm in one visit with a budget: walks its VMAs and their page tables. */
#ifndef ZMEM_PAGE_WALK_BPF_H
#define ZMEM_PAGE_WALK_BPF_H

#include "walk_room.bpf.h"
#include "page.bpf.h"
#include "page_table.bpf.h"
#ifdef ZMEM_MEMOS
#include "memo.bpf.h"
#endif
#include "vma.bpf.h"
/* A broken tree ends the walk as UNKNOWN: user space reads smaps_rollup. */
#define MAPLE_WALK		struct page_walk
#define maple_root(w)		mm_word((w)->mm, MM_ROOT)
#define maple_vma(w, vma, last) start_vma(walk_ref_of(w), vma, last)
#define maple_torn(w)		((w)->pages.flags |= ZMEM_WALK_UNKNOWN)
#include "maple.bpf.h"
#include "vma_list.bpf.h"

#ifndef ZMEM_MEMOS
static __always_inline void count_table(struct page_walk *w, walk_ref walk)
{
	walk_table(walk);
}
#endif

WALK_STEP_FUNCTION(walk_step)
{
	struct page_walk *w = walk_get(walk);

	if (walk_is_lost(w))
		return 1;
	if (w->done && w->addr >= w->end)
		return 1;
	/* A huge page is finished in one visit, because its mapcounts must add up. */
	if (w->pages.work >= WALK_BUDGET && !w->huge)
		return 1;
	w->pages.work += WALK_STEP_COST;
#ifdef ZMEM_EACH_PAGE
	if (w->addr >= w->end && each_is_full())
		return 1;
	if (w->addr < w->end && w->hugetlb)
		return walk_hugetlb(w);
#endif
	if (w->addr < w->end) {
		if (w->addr >> pmd_bits(w) != w->region)
			find_region(walk);
		if (w->huge)
			walk_huge_page(w);
		else if (w->addr >> pmd_bits(w) == w->region)
			count_table(w, walk);
		return 0;
	}
	return has_vma_list() ? vma_list_step(w) : maple_step(w);
}
WALK_STEP_LONG(walk_step)

/*
 * Walks w->mm from w->next on, within the budget. The caller sets w->at, mm and next; all else is
 * 0. With casts it is a global function: the verifier assumes any content of *w, so it checks a
 * step once and not once for each state of the walk.
 */
once_function int walk_pages(walk_ref walk)
{
	struct page_walk *w = walk_get(walk);

	if (!w)
		return 0;
	w->pgd = mm_word(w->mm, MM_PGD);
	w->region = ~0ULL;
	walk_loop_long(WALK_STEPS_MAX, WALK_STEPS_MAX, walk_step, walk);
	count_run(walk, w->run, w->run_count);
	w->pages.cursor = w->addr < w->end ? w->addr : w->next;
	return 0;
}

#endif
