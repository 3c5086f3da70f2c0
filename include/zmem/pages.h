/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Pages one by one (bpf/pages.bpf.c): on which NUMA node they are, which are lazily freed, the
 * share of hugetlb pages, and the rest of huge pages that are mapped in part. It is one value of a
 * map, which the one process that loaded the program maps into its memory.
 */
#ifndef ZMEM_PAGES_H
#define ZMEM_PAGES_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#include "zmem/record.h"
#include "zmem/setup.h"

/* Nodes that are told apart, from 0 on. */
#define ZMEM_NODES 16
/* Runs of frames of one node (struct frame_span), in their order. */
#define ZMEM_NODE_SPANS 64
/* VMAs that a visit tells apart. */
#define ZMEM_PAGES_VMAS 256

enum zmem_pages_asked {
	ZMEM_PAGES_NODES = 1 << 0,
	ZMEM_PAGES_LAZY = 1 << 1,
	ZMEM_PAGES_HUGETLB = 1 << 2,
	ZMEM_PAGES_BY_VMA = 1 << 3, /* a sum for each VMA, in `vma` */
	ZMEM_PAGES_REST = 1 << 4,
};

/* Shares are bytes, shifted left by ZMEM_PSS_SHIFT. */
struct zmem_pages_sum {
	__u64 pages[ZMEM_NODES]; /* resident ones */
	__u64 share[ZMEM_NODES]; /* each divided by its mappings */
	/*
	 * Pages after madvise(MADV_FREE) that were not written since: anonymous, not swap-backed,
	 * not dirty (smaps_account(), fs/proc/task_mmu.c). Each counts in full.
	 */
	__u64 lazy;
	__u64 hugetlb; /* share */
	__u64 strays;  /* frames of no node that is told apart */
	/*
	 * Pages of large anonymous folios that no process maps, but others of the folio are mapped:
	 * the share of this process. Each page of the folio that a process maps has the same part
	 * of them, divided by its own mappings.
	 */
	__u64 rest;
	__u64 rest_unknown; /* mapped pages of which the kernel does not keep the counts */
};

/* A VMA, or the part of it that a visit looked at. */
struct zmem_pages_vma {
	__u64 start; /* of the VMA */
	struct zmem_pages_sum sum;
};

/* What one visit of the iterator has found of a process. */
struct zmem_pages_record {
	struct zmem_visit visit;
	__s64 before[ZMEM_RSS_COUNT], after[ZMEM_RSS_COUNT]; /* its counters, around the visit */
	__u64 seen[ZMEM_RSS_COUNT];			     /* pages, by enum zmem_rss */
	struct zmem_pages_sum sum;
};

struct zmem_node_span {
	__u64 first, end; /* frame numbers */
	__u64 node;
};

struct zmem_pages_visit {
	/* Set by user space. */
	__u32 asked; /* enum zmem_pages_asked */
	__u32 spans;
	struct zmem_layout at;
	struct zmem_node_span span[ZMEM_NODE_SPANS];
	struct zmem_pages_record record;
	/* With ZMEM_PAGES_BY_VMA: */
	__u64 vmas;
	struct zmem_pages_vma vma[ZMEM_PAGES_VMAS];
};

#endif
