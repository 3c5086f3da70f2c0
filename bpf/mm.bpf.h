/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is read of an mm by each program that walks it: its counters, and what identifies it. */
#ifndef ZMEM_MM_BPF_H
#define ZMEM_MM_BPF_H

#include "zmem/record.h"
#include "threads.bpf.h"

/* Returns ZMEM_VALID_RSS or 0. A global function, for its own stack frame. */
kfunction int read_rss(__u64 mm, struct rss_pages *ret)
{
	if (!ret)
		return 0;
#ifndef ZMEM_OLD
	if (bpf_core_field_exists(struct mm_struct, rss_stat) &&
	    bpf_core_field_exists(struct percpu_counter, count)) {
		percpu_sum_rss(mm + koffset(struct mm_struct, rss_stat), ret->count);
		return ZMEM_VALID_RSS;
	}
#endif
#ifdef ZMEM_PROBE_READS
	if (bpf_core_type_exists(struct mm_rss_stat___pre62)) {
		ktext(ret->count, mm + koffset(struct mm_struct___pre62, rss_stat.count),
		      ZMEM_RSS_COUNT);
		return ZMEM_VALID_RSS;
	}
#endif
	return 0;
}

/*
 * True if KSM may have merged pages of the mm. Until 5.18 there is no count of them, only a flag
 * (MMF_VM_MERGEABLE) that never goes away.
 */
static __always_inline bool mm_is_mergeable(__u64 mm_addr)
{
	return OLD_LAYOUTS && kread64(mm_addr + koffset(struct mm_struct___old, flags)) >> 16 & 1;
}

/*
 * Identifies an mm, also against earlier and later ones of the same process: the address of an
 * mm_struct is reused, possibly two execs later. The 6 lowest bits of the address are 0 and the 7
 * highest bits of any kernel address are 1, so 13 bits of the exec count fit in. Tasks that share
 * an mm have the same number: fork copies the count, and exec leaves the mm.
 */
static __always_inline __u64 mm_identity(__u64 mm, __u64 execs)
{
	return mm ^ (execs & 63) ^ execs >> 6 << 57;
}

#endif
