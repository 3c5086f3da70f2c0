/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Swap, slot by slot (bpf/swap.bpf.c): what user space sets, and what a visit returns. It is one
 * value of a map, which the one process that loaded the programs maps into its memory.
 */
#ifndef ZMEM_SWAP_H
#define ZMEM_SWAP_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#include "zmem/files.h"
#include "zmem/record.h"
#include "zmem/setup.h"

/* Swap files that an entry can name; the kernel allows a few more (MAX_SWAPFILES). */
#define ZMEM_SWAP_DEVICES 16
/* Swap slots that one visit counts or looks at. */
#define ZMEM_SWAP_SCAN (256 * 1024)
/* Nodes of the tree of a file that one visit looks at, of 64 pages each. */
#define ZMEM_SWAP_NODES 128

/* A swap file or device. The addresses are of use to the kernel side alone. */
struct zmem_swap_device {
	__u64 info; /* its swap_info_struct; 0: none is in use */
	__u64 map;  /* of the sharers of each slot, a byte each; 0: in the clusters */
	__u64 clusters;
	__u64 zeroes; /* a bit for each slot: the page is zero; 0: none, or in the clusters */
	__u64 slots;
	__u64 in_use;
	__u64 pages;
	__s64 priority;
	/* For zram: */
	__u64 disk_bytes; /* 0: it is no zram device */
	__u64 table;	  /* 0: a file or a partition on such a device */
	__u64 table_slots;
	/* For zswap, which may hold slots of any device: its trees; 0: none. */
	__u64 trees;
	__u64 tree_count;
	__u64 cache; /* trees of the swap cache; 0: none, or in the clusters */
};

/* Sums over swap entries. Shares are shifted left by ZMEM_PSS_SHIFT. */
struct zmem_swap_sum {
	__u64 entries;
	__u64 share;   /* bytes of pages */
	__u64 unknown; /* entries of no device that is known, or without a sharer */
	/* With costs, each divided by its sharers: */
	__u64 zram, zswap;    /* bytes that the slots take in RAM */
	__u64 incompressible; /* bytes of pages that zram or zswap hold as they are */
	__u64 filled;	      /* bytes of pages that repeat one word: they are held nowhere */
	__u64 disk;	      /* bytes of pages on a disk */
};

/* What one visit of the iterator has found of a process. */
struct zmem_swap_record {
	struct zmem_visit visit;
	__s64 before, after; /* swap entries by its counter, around the visit */
	struct zmem_swap_sum sum;
};

struct zmem_swap {
	/* Set by user space. */
	__u32 all_private; /* 1: walk all private memory; 0: what other processes may share */
	__u32 costs;	   /* 1: find out where pages are, and what they take in RAM */
	__u32 device;	   /* of a scan */
	__s32 epoll; /* a descriptor of the process, which waits for /proc/swaps alone; or -1 */
	struct zmem_layout at;
	/* Found by swap_symbols; 0: the kernel keeps no such symbols. */
	__u64 swap_info, zswap_trees, zswap_tree_counts, swapper_spaces;
	__u64 queue, head;	/* without symbols: what leads to the devices; 0: not found */
	__u32 next;		/* the word near the queue at which the search goes on */
	__u64 unknown_clusters; /* 1: sharers are in clusters of a size that is not known */
	__u64 file_gone; /* of file_slots: the file of `tree` is gone, or another one has its place
			  */
	/* For scan_slots: the next swap slot, and how many so far only the swap cache has. */
	__u64 slot;
	__u64 cached;
	__u64 work; /* the most table entries that a run looked at; a swap slot counts as 4 */
	__u64 kernel_table; /* in the kernel: of a process that has the kernel's memory */
	struct zmem_swap_record record;
	struct zmem_swap_device dev[ZMEM_SWAP_DEVICES];
	struct zmem_tree tree;
};

#endif
