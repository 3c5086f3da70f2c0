/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds one page of a process in its page tables, without a lock. */
#ifndef ZMEM_USER_ENTRY_BPF_H
#define ZMEM_USER_ENTRY_BPF_H

#include "zmem/setup.h"
#include "entry.bpf.h"
#include "kread.bpf.h"

/* The entry that maps an address, and the physical address; 0: nothing is mapped there. */
static __always_inline __u64 user_entry(const struct zmem_layout *at, __u64 mm, __u64 address,
					__u64 *ret_phys)
{
	__u64 table = kaddr(kcast(struct mm_struct, mm), pgd), entry = 0, phys = 0, low;
	__u32 shift = at->top_shift, bits = at->page_bits - 3;

	for (int level = 0; level < LEVELS_MOST; level++) {
		entry = kread64(table +
				((address >> (shift & 63) & ((1ULL << (bits & 15)) - 1)) << 3));
		phys = entry_address(entry) & at->phys_mask;
		if (phys >> (at->page_bits & 63) >= at->pfn_end)
			return 0;
		if (shift <= at->page_bits || !entry_is_table(entry))
			break;
		table = at->direct + phys;
		shift -= bits;
	}
	low = (1ULL << (shift & 63)) - 1;
	*ret_phys = (phys & ~low) | (address & low);
	return entry & (ENTRY_PRESENT | ENTRY_PROTNONE) ? entry : 0;
}

#endif
