/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Measures the PSS of an mm in one visit with a budget: walks its VMAs and their page tables. */
#ifndef ZMEM_PAGE_WALK_BPF_H
#define ZMEM_PAGE_WALK_BPF_H

#include "walk_state.bpf.h"
#include "page.bpf.h"
#include "page_table.bpf.h"
#include "vma.bpf.h"

/* Table entries that a visit may look at: the time stays well below a millisecond. */
#define WALK_BUDGET (32 * 1024)
#define WALK_STEP   2 /* cost of a step itself, in entries */

static long walk_step(__u32 index, struct page_walk **walk)
{
	struct page_walk *w = *walk;

	if (w->done && w->addr >= w->end)
		return 1;
	/* A huge page is finished in one visit, because its mapcounts must add up. */
	if (w->pages.work >= WALK_BUDGET && !w->huge)
		return 1;
	w->pages.work += WALK_STEP;
	if (w->addr < w->end) {
		if (w->addr >> pmd_bits(w) != w->region)
			find_region(w);
		if (w->huge)
			walk_huge_page(w);
		else if (w->addr >> pmd_bits(w) == w->region)
			walk_table(w);
		return 0;
	}
	if (!w->entry) {
		w->entry = mm_word(w->mm, MM_ROOT);
		w->max = ~0ULL;
		/* A root that is not a node (xa_is_node()): there is at most one VMA. */
		if ((w->entry & 3) != 2)
			w->entry = 0;
	}
	if (!(w->entry >> 63)) {
		w->pages.flags |= ZMEM_WALK_UNKNOWN;
		return 1;
	}
	if (MAPLE_TYPE(w->entry) > MAPLE_LEAF_64)
		descend(w);
	else
		next_slot(w);
	return 0;
}

/*
 * Walks w->mm from w->next on, within the budget. The caller sets w->at, mm and next; all else is
 * 0. It is a global function: the verifier assumes any content of *w, so it checks a step once and
 * not once for each state of the walk.
 */
__noinline int walk_pages(struct page_walk *w)
{
	if (!w)
		return 0;
	w->pgd = mm_word(w->mm, MM_PGD);
	w->region = ~0ULL;
	bpf_loop(WALK_BUDGET, walk_step, &w, 0);
	count_run(w, w->run, w->run_count);
	w->pages.cursor = w->addr < w->end ? w->addr : w->next;
	return 0;
}

#endif
