/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the VMAs of an mm in its red-black tree and its list (until 6.0). A visit descends once, to
 * the first VMA that ends behind the cursor, then follows the list.
 */
#ifndef ZMEM_VMA_LIST_BPF_H
#define ZMEM_VMA_LIST_BPF_H

#include "vma.bpf.h"

#ifdef ZMEM_PROBE_READS

#define has_vma_list() (!bpf_core_field_exists(struct mm_struct, mm_mt))

/* Goes one node down in the tree, towards the first VMA that ends behind w->next. */
static __always_inline void descend_vma_tree(struct page_walk *w)
{
	__u64 vma = w->entry - koffset(struct vm_area_struct___old, vm_rb);

	if (kread64(vma + koffset(struct vm_area_struct, vm_end)) > w->next) {
		w->room.vma = vma;
		w->entry = kread64(w->entry + koffset(struct rb_node, rb_left));
	} else {
		w->entry = kread64(w->entry + koffset(struct rb_node, rb_right));
	}
}

/* A step among the VMAs. */
static __always_inline int vma_list_step(struct page_walk *w)
{
	__u64 vma = w->room.vma, end;

	if (!w->room.tree_begun) {
		w->room.tree_begun = 1;
		w->entry = kread64(w->mm + koffset(struct mm_struct___old, mm_rb.rb_node));
	} else if (w->entry) {
		descend_vma_tree(w);
	} else if (!vma) {
		w->next = 0;
		w->done = 1;
	} else {
		end = kread64(vma + koffset(struct vm_area_struct, vm_end));
		/* Freed or torn: the list may lead anywhere. */
		if (end <= w->next) {
			w->pages.flags |= ZMEM_WALK_UNKNOWN;
			return 1;
		}
		w->room.vma = kread64(vma + koffset(struct vm_area_struct___old, vm_next));
		start_vma(walk_ref_of(w), vma, end - 1);
		w->next = end;
	}
	return 0;
}

#else

#define has_vma_list() false

static __always_inline int vma_list_step(struct page_walk *w)
{
	return 1;
}

#endif

#endif
