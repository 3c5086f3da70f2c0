/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is read of an mm by each program that walks it: its counters, and what identifies it. */
#ifndef ZMEM_MM_BPF_H
#define ZMEM_MM_BPF_H

#include "zmem/record.h"
#include "threads.bpf.h"

/*
 * True if the resident set is four struct percpu_counter with counts of 64 bits. Members of a type
 * are found by their names alone, so the sizes are compared as well: another type of the same size
 * without such a count does not pass.
 */
#define has_percpu_rss()                                                                           \
	(bpf_core_field_exists(struct mm_struct, rss_stat[0].count) &&                             \
	 bpf_core_field_size(struct mm_struct, rss_stat[0].count) == sizeof(__s64) &&              \
	 bpf_core_field_size(struct mm_struct, rss_stat) ==                                        \
		 ZMEM_RSS_COUNT * bpf_core_type_size(struct percpu_counter))

/* The same for the four atomics that it is until 6.1. */
#define has_atomic_rss()                                                                           \
	(bpf_core_field_exists(struct mm_struct___pre62, rss_stat.count) &&                        \
	 bpf_core_field_size(struct mm_struct___pre62, rss_stat.count) ==                          \
		 ZMEM_RSS_COUNT * sizeof(__s64))

/* Returns ZMEM_VALID_RSS or 0. A global function, for its own stack frame. */
own_frame_function int read_rss(__u64 mm, struct rss_pages *ret)
{
	if (!ret)
		return 0;
#ifndef ZMEM_OLD
	if (has_percpu_rss()) {
		percpu_sum_rss(mm + koffset(struct mm_struct, rss_stat), ret->count);
		return ZMEM_VALID_RSS;
	}
#endif
#ifdef ZMEM_PROBE_READS
	if (has_atomic_rss()) {
		ktext(ret->count, mm + koffset(struct mm_struct___pre62, rss_stat.count),
		      ZMEM_RSS_COUNT);
		return ZMEM_VALID_RSS;
	}
#endif
	return 0;
}

/* True if the kernel counts the pages of an mm that KSM merged (7609385337a4, 5.19). */
#define counts_merged() bpf_core_field_exists(struct mm_struct, ksm_merging_pages)

/*
 * True if KSM may have merged pages of the mm, on a kernel that does not count them. Until 5.18
 * only a flag says so (MMF_VM_MERGEABLE), which never goes away. A kernel without CONFIG_KSM merges
 * nothing: it lacks the types of mm/ksm.c as well.
 */
static __always_inline bool mm_is_mergeable(__u64 mm_addr)
{
	if (!bpf_core_type_exists(struct ksm_rmap_item) &&
	    !bpf_core_type_exists(struct rmap_item___pre61))
		return false;
	if (!OLD_LAYOUTS || !bpf_core_field_exists(struct mm_struct___old, flags))
		return true;
	return kread64(mm_addr + koffset(struct mm_struct___old, flags)) >> 16 & 1;
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
