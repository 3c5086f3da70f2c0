/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Decides which VMAs to walk. maple.bpf.h and vma_list.bpf.h find them. */
#ifndef ZMEM_VMA_BPF_H
#define ZMEM_VMA_BPF_H

#include "member.bpf.h"
#include "walk_room.bpf.h"

/*
 * include/linux/mm.h. Since 6.19 BTF has the numbers of the bits, but in an enum without a name,
 * which CO-RE cannot find.
 */
#define VM_PFNMAP    0x00000400
#define VM_HUGETLB   0x00400000
#define VM_MERGEABLE 0x80000000ULL

#define VMA_FLAGS                                                                                  \
	(bpf_core_field_exists(struct vm_area_struct, vm_flags)                                    \
		 ? koffset(struct vm_area_struct, vm_flags)                                        \
		 : koffset(struct vm_area_struct___bitmap, flags.__vma_flags))

/* Memos are for what is large and shared (memo.bpf.h). */
#define MEMO_BYTES_LEAST (4 << 20)

/*
 * True if no other process can map an anonymous page of the VMA: its anon_vma is its own, no living
 * fork has copied it (mm/rmap.c, anon_vma_fork()), and KSM may not merge its pages.
 */
static __always_inline bool vma_is_private(__u64 next, __u64 prev, __u64 anon_vma, __u64 flags)
{
	/* The member was backported to 5.10 and 5.15. */
	if (OLD_LAYOUTS && !found_member(anon_vma, num_children))
		return false;
	return next == prev && !(flags & VM_MERGEABLE) &&
	       kread64(anon_vma + member_offset(anon_vma, root)) == anon_vma &&
	       kread64(anon_vma + member_offset(anon_vma, num_children)) == 1;
}

/*
 * Prepares the walk of the VMA, unless it need not be walked. `last` is its last address by the
 * tree or list that it was found in.
 */
__noinline int start_vma(walk_ref walk, __u64 vma, __u64 last)
{
	struct page_walk *w = walk_get(walk);
	const volatile void *words;
	__u64 start, end, mm, flags, ops, anon_vma, next, prev;

	if (!w)
		return 0;
	words = kblock(walk_copy(w, vma_words), vma, sizeof(walk_copy(w, vma_words)));
	start = kblock_word(words, koffset(struct vm_area_struct, vm_start));
	end = kblock_word(words, koffset(struct vm_area_struct, vm_end));
	mm = kblock_word(words, koffset(struct vm_area_struct, vm_mm));
	flags = kblock_word(words, VMA_FLAGS);
	ops = kblock_word(words, koffset(struct vm_area_struct, vm_ops));
	anon_vma = kblock_word(words, koffset(struct vm_area_struct, anon_vma));
	next = kblock_word(words, koffset(struct vm_area_struct, anon_vma_chain.next));
	prev = kblock_word(words, koffset(struct vm_area_struct, anon_vma_chain.prev));
	if (mm != w->mm || end != last + 1 || start > last) {
		w->pages.flags |= ZMEM_WALK_UNKNOWN;
		return 0;
	}
	if (w->find) {
		w->found = kread64(vma + koffset(struct vm_area_struct, vm_file));
		w->done = 1;
		return 0;
	}
#ifdef ZMEM_EACH_PAGE
	if (!each_vma(w, start, flags, anon_vma))
		return 0;
	if (flags & VM_HUGETLB) {
		w->addr = w->next > start ? w->next : start;
		w->end = end;
		return 0;
	}
#endif
	/* Rings that have no struct pages, too: each mapping is a reference of its file. */
	meet_vma(w, vma);
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
	if (w->may_share && !EVERY_PAGE && (!ops || w->has_swap))
		w->may_share = !vma_is_private(next, prev, anon_vma, flags);
#ifdef ZMEM_SWAP_SLOTS
	w->may_share |= w->all_private && anon_vma;
#endif
	if (SHARED_ALONE && !w->may_share && !(walks_private(w, ops) && anon_vma))
		return 0;
	/* Without vm_ops the VMA is anonymous. */
	w->stop = pmd_bits(w);
	if (!ops && !w->may_share && !walks_private(w, ops)) {
		if (!anon_vma || !w->has_huge)
			return 0;
		w->stop = pud_bits(w);
	}
	/* Without an anon_vma the VMA never had an anonymous page. */
	w->anon_all = !ops;
	w->anon_mask = anon_vma ? PAGE_MAPPING_ANON : 0;
	w->addr = w->next > start ? w->next : start;
	w->end = end;
	w->may_match = w->lane && end - start >= MEMO_BYTES_LEAST;
	return 0;
}

#endif
