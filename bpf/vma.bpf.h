/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the VMAs of an mm in its maple tree and decides which of them to walk. Layout of maple
 * nodes: include/linux/maple_tree.h.
 */
#ifndef ZMEM_VMA_BPF_H
#define ZMEM_VMA_BPF_H

#include "walk_state.bpf.h"

/* include/linux/mm.h */
#define VM_PFNMAP    0x00000400
#define VM_HUGETLB   0x00400000
#define VM_MERGEABLE 0x80000000ULL

/*
 * True if no other process can map an anonymous page of the VMA: its anon_vma is its own, no living
 * fork has copied it (mm/rmap.c, anon_vma_fork()), and KSM may not merge its pages.
 */
static __always_inline bool vma_is_private(__u64 next, __u64 prev, __u64 anon_vma_addr, __u64 flags)
{
	const struct anon_vma *anon_vma = kcast(struct anon_vma, anon_vma_addr);

	return next == prev && !(flags & VM_MERGEABLE) &&
	       (__u64)kget(anon_vma, root) == anon_vma_addr && kget(anon_vma, num_children) == 1;
}

/*
 * Prepares the walk of the VMA, unless it need not be walked. The maple tree says that the VMA ends
 * before `last` + 1.
 */
__noinline int start_vma(struct page_walk *w, __u64 vma, __u64 last)
{
	const volatile void *words = kwords(vma);
	__u64 start = kword(words, koffset(struct vm_area_struct, vm_start));
	__u64 end = kword(words, koffset(struct vm_area_struct, vm_end));
	__u64 mm = kword(words, koffset(struct vm_area_struct, vm_mm));
	__u64 flags = kword(words, koffset(struct vm_area_struct, vm_flags));
	__u64 ops = kword(words, koffset(struct vm_area_struct, vm_ops));
	__u64 anon_vma = kword(words, koffset(struct vm_area_struct, anon_vma));
	__u64 next = kword(words, koffset(struct vm_area_struct, anon_vma_chain.next));
	__u64 prev = kword(words, koffset(struct vm_area_struct, anon_vma_chain.prev));

	if (!w)
		return 0;
	if (mm != w->mm || end != last + 1 || start > last) {
		w->pages.flags |= ZMEM_WALK_UNKNOWN;
		return 0;
	}
	if (w->find) {
		w->found = vma;
		w->done = 1;
		return 0;
	}
	/*
	 * Skips what smaps skips. Device pages that count (VM_IO: [vvar] of 7.1) are normal pages.
	 */
	if (flags & (VM_HUGETLB | VM_PFNMAP))
		return 0;
	/*
	 * A file mapping is walked in any case. Whether other processes share its swap entries
	 * matters only if there are any.
	 */
	w->may_share = anon_vma && !(w->pages.flags & ZMEM_WALK_EXCLUSIVE);
	if (w->may_share && (!ops || w->has_swap))
		w->may_share = !vma_is_private(next, prev, anon_vma, flags);
	/* Without vm_ops the VMA is anonymous. */
	w->stop = pmd_bits(w);
	if (!ops && !w->may_share) {
		if (!anon_vma || !w->has_huge)
			return 0;
		w->stop = pud_bits(w);
	}
	/* Without an anon_vma the VMA never had an anonymous page. */
	w->anon_all = !ops;
	w->anon_mask = anon_vma ? PAGE_MAPPING_ANON : 0;
	w->addr = w->next > start ? w->next : start;
	w->end = end;
	return 0;
}

/* enum maple_type */
#define MAPLE_TYPE(entry) ((entry) >> 3 & 15)
#define MAPLE_NODE(entry) ((entry) & ~0xffULL)
#define MAPLE_LEAF_64	  1
#define MAPLE_ARANGE_64	  3
/* Words of a node: its parent, the pivots, and one slot more than pivots. */
#define MAPLE_ARANGE_PIVOTS 9
#define MAPLE_RANGE_PIVOTS  15

static __always_inline __u64 maple_word(__u64 entry, __u64 index)
{
	return kread64(MAPLE_NODE(entry) + index * sizeof(__u64));
}

struct descent {
	__u64 entry, next, pivots;
	__u64 slot; /* in: 0; out: the first slot with a pivot of at least `next` */
};

static long descend_pivot(__u32 index, struct descent *d)
{
	__u64 pivot = maple_word(d->entry, 1 + index);

	/* A zero ends the used pivots; the last slot reaches to the end of the node. */
	if ((index && !pivot) || pivot >= d->next)
		return 1;
	d->slot = index + 1;
	return 0;
}

/* Goes one node down in the maple tree, towards w->next. */
static __always_inline void descend(struct page_walk *w)
{
	struct descent d = {};
	__u64 pivot;

	d.entry = w->entry;
	d.next = w->next;
	d.pivots =
		MAPLE_TYPE(d.entry) == MAPLE_ARANGE_64 ? MAPLE_ARANGE_PIVOTS : MAPLE_RANGE_PIVOTS;
	bpf_loop(d.pivots, descend_pivot, &d, 0);
	pivot = maple_word(d.entry, 1 + d.slot);
	if (d.slot < d.pivots && pivot && pivot < w->max)
		w->max = pivot;
	w->entry = maple_word(d.entry, 1 + d.pivots + d.slot);
	w->slot = 0;
}

/* Reads the next slot of the leaf, a VMA or a gap. After the last slot the descent starts anew. */
static __always_inline void next_slot(struct page_walk *w)
{
	__u64 i, last, vma;

	i = w->slot++;
	last = i < MAPLE_RANGE_PIVOTS ? maple_word(w->entry, 1 + i) : w->max;
	if (i >= MAPLE_RANGE_PIVOTS || (i && !last) || last >= w->max) {
		last = w->max;
		w->slot = 0;
	}
	if (last >= w->next) {
		vma = maple_word(w->entry, 1 + MAPLE_RANGE_PIVOTS + i);
		if (vma)
			start_vma(w, vma, last);
		w->next = last + 1;
		if (!w->next)
			w->done = 1;
	}
	if (!w->slot)
		w->entry = 0;
}

#endif
