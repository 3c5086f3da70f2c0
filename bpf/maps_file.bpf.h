/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds a file that an address space maps, or whether it maps a given file. No lock is taken. If
 * another task has the mmap_lock, the VMAs do not change; else the answer may be wrong.
 */
#ifndef ZMEM_MAPS_FILE_BPF_H
#define ZMEM_MAPS_FILE_BPF_H

struct file_search {
	__u64 mm;
	__u64 next;		/* VMAs from this address on */
	__u64 mapping;		/* wanted: the address_space of the file; 0: of the first VMA */
	__u64 found;		/* the address_space; 0: none */
	__u64 entry, max, slot; /* of maple.bpf.h */
	__u32 done, torn;	/* torn: the answer is not known */
};

/* In a map, because the verifier follows the stack through each step. There is one reader. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct file_search);
} file_search SEC(".maps");

static __always_inline struct file_search *search_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&file_search, &zero);
}

/* More than the default vm.max_map_count, with the nodes between them. */
#define SEARCH_STEPS (1 << 18)

static __always_inline void search_vma(struct file_search *w, __u64 vma, __u64 last)
{
	__u64 file = kread64(vma + koffset(struct vm_area_struct, vm_file)), mapping;

	w->torn |= kread64(vma + koffset(struct vm_area_struct, vm_mm)) != w->mm;
	mapping = file ? kread64(file + koffset(struct file, f_mapping)) : 0;
	if (w->mapping && mapping != w->mapping)
		return;
	w->found = mapping;
	w->done = 1;
}

#define MAPLE_WALK		struct file_search
#define maple_root(w)		((__u64)kget(kcast(struct mm_struct, (w)->mm), mm_mt.ma_root))
#define maple_vma(w, vma, last) search_vma(w, vma, last)
#define maple_torn(w)		((w)->torn = 1)
#include "maple.bpf.h"

static long search_step(__u32 turn, void *unused)
{
	struct file_search *w = search_get();

	return !w || w->done || w->torn || maple_step(w);
}

/* Is never NULL; the verifier does not know that. */
static __always_inline struct file_search *search_file(__u64 mm, __u64 from, __u64 mapping)
{
	struct file_search *w = search_get();

	if (!w)
		return w;
	*w = (struct file_search){.mm = mm, .next = from, .mapping = mapping};
	bpf_loop(SEARCH_STEPS, search_step, NULL, 0);
	w->torn |= !w->done;
	return w;
}

#endif
