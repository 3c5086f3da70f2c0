/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whether a write is about to copy a page that other processes map, too (copy-on-write). */
#ifndef ZMEM_COPIED_BPF_H
#define ZMEM_COPIED_BPF_H

#include "zmem/setup.h"
#include "compound.bpf.h"
#include "entry.bpf.h"

#if defined(__TARGET_ARCH_x86)
#define ENTRY_READ_ONLY(entry) (!((entry) >> 1 & 1)) /* _PAGE_RW */
#else
#define ENTRY_READ_ONLY(entry) ((entry) >> 7 & 1) /* PTE_RDONLY */
#endif

#define LEVELS 5

/*
 * The entry that maps an address, 0 if none does. The page tables are those of the current thread,
 * which is in a page fault at this address.
 */
static __always_inline __u64 entry_of(const struct zmem_layout *at, __u64 mm, __u64 address)
{
	__u64 table = kaddr(kcast(struct mm_struct, mm), pgd), entry = 0;
	__u32 shift = at->top_shift, bits = at->page_bits - 3;

	for (int level = 0; level < LEVELS; level++) {
		entry = kread64(table +
				((address >> (shift & 63) & ((1ULL << (bits & 15)) - 1)) << 3));
		if (shift <= at->page_bits || !entry_is_table(entry))
			break;
		table = at->direct + (entry_address(entry) & at->phys_mask);
		shift -= bits;
	}
	if (!(entry & ENTRY_PRESENT))
		return 0;
	/* In a huge page: the page at the address. */
	return shift > at->page_bits
		       ? (entry & ~((1ULL << (shift & 63)) - 1 & ENTRY_ADDRESS)) |
				 (address & ((1ULL << (shift & 63)) - 1) & ENTRY_ADDRESS)
		       : entry;
}

/*
 * do_wp_page(), mm/memory.c: an anonymous page of one process is written in place, a shared one is
 * copied. A copy of a page of a file or of shared memory changes the counters: it does not count.
 */
static __always_inline bool is_copied(const struct zmem_layout *at, __u64 mm, __u64 address)
{
	__u64 entry = entry_of(at, mm, address), pfn, page, info, flags, head;

	if (!entry || (entry & ENTRY_SPECIAL) || !ENTRY_READ_ONLY(entry))
		return false;
	pfn = (entry_address(entry) & at->phys_mask) >> (at->page_bits & 63);
	if (pfn >= at->pfn_end)
		return false;
	page = at->vmemmap + pfn * PAGE_STRUCT_SIZE;
	info = kread64(page + PAGE_INFO);
	flags = kread64(page + PAGE_FLAGS);
	head = info & 1 ? tail_head(page, info) : page;
	if (!(kread64(head + FOLIO_MAPPING) & 1))
		return false;
	if (bpf_core_enum_value_exists(enum pageflags___exclusive, PG_anon_exclusive___exclusive) &&
	    flags >> bpf_core_enum_value(enum pageflags___exclusive,
					 PG_anon_exclusive___exclusive) &
		    1)
		return false;
	if ((info & 1) | (flags >> bpf_core_enum_value(enum pageflags, PG_head) & 1))
		return true;
	return (__s32)kread32(page + PAGE_MAPCOUNT) > 0;
}

#endif
