/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whether a write is about to copy a page that other processes map, too (copy-on-write). */
#ifndef ZMEM_COPIED_BPF_H
#define ZMEM_COPIED_BPF_H

#include "compound.bpf.h"
#include "user_entry.bpf.h"

#if defined(__TARGET_ARCH_x86)
#define ENTRY_READ_ONLY(entry) (!((entry) >> 1 & 1)) /* _PAGE_RW */
#else
#define ENTRY_READ_ONLY(entry) ((entry) >> 7 & 1) /* PTE_RDONLY */
#endif

/*
 * The page tables are those of the current thread, which is in a page fault at this address.
 * do_wp_page(), mm/memory.c: an anonymous page of one process is written in place, a shared one is
 * copied. A copy of a page of a file or of shared memory changes the counters: it does not count.
 */
static __always_inline bool is_copied(const struct zmem_layout *at, __u64 mm, __u64 address)
{
	__u64 phys, page, info, flags, head, entry = user_entry(at, mm, address, &phys);

	if (!(entry & ENTRY_PRESENT) || (entry & ENTRY_SPECIAL) || !ENTRY_READ_ONLY(entry))
		return false;
	page = at->vmemmap + (phys >> (at->page_bits & 63)) * PAGE_STRUCT_SIZE;
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
