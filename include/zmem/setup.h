/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What user space passes to the BPF programs before and between their runs, and what it gets back.
 * Both sides include it. Kernel addresses stay in the kernel's maps.
 */
#ifndef ZMEM_SETUP_H
#define ZMEM_SETUP_H

#ifndef __bpf__
#include <linux/types.h>
#endif

/* cpu_offset_setup: finds the per-CPU offset of one CPU. */
struct zmem_cpu_setup {
	__u32 index; /* in cpu_offset */
	__u32 cpu;
};

/*
 * The input of calibration: two resident pages of the process that then reads the iterator.
 * `file_addr` maps the only page of a memfd, which begins with `content`; `anon_addr` is anonymous
 * and PROT_NONE. Only the process that loaded the program has the map.
 */
struct zmem_calibrate {
	__u64 file_addr; /* 0: not requested, or answered */
	__u64 anon_addr;
	__u64 content;	 /* random, so that no other page matches by chance */
	__u64 pfn_end;	 /* one above the highest page of RAM */
	__u64 phys_mask; /* bits of a page table entry that can be an address below pfn_end */
	__u64 page_bits; /* log2 of the page size */
};

/* The result of calibration: the check that failed, if any. */
enum zmem_calibrate_result {
	ZMEM_NOT_CALIBRATED,
	ZMEM_CALIBRATED,
	ZMEM_UNKNOWN_SIZE,  /* page size, or too much RAM for the entry format */
	ZMEM_NO_DIRECT_MAP, /* no base that was tried leads to the content */
	ZMEM_NO_FOLIO,	    /* the file's page cache does not hold exactly one page */
	ZMEM_BAD_MEMMAP,    /* the struct page of the file's page does not match */
	ZMEM_BAD_ANON,	    /* likewise for the anonymous page, or it was not found */
	ZMEM_NO_QUESTION,   /* the arguments of the reader's system call were not found */
};

/* The reply, which the iterator then writes in place of records. */
struct zmem_calibrated {
	__u32 result; /* enum zmem_calibrate_result */
};

/*
 * Where the kernel has its memory: what calibration finds, in a map of the program. The process
 * that loaded the program copies it to the other program that needs it (zmem/swap.h).
 */
struct zmem_layout {
	__u64 direct;  /* the direct map */
	__u64 vmemmap; /* the array of struct page */
	__u64 pfn_end;
	__u64 phys_mask; /* the bits of an entry that are an address; encryption bits are not */
	__u32 top_shift; /* of the top table: 39, with 5 levels 48; 0: not calibrated */
	__u32 page_bits;
};

/*
 * What a thread that reads an iterator requests. It passes the request in arguments that read(2)
 * does not use, from the fourth on: ZMEM_ASK, zmem_question.bits, and the cursor where the walk of
 * page tables continues (zmem_pages.cursor, or 0). So a request needs neither a capability nor a
 * map, and a reader that sends none (cat) gets every process.
 */
#define ZMEM_ASK 0x7a6d656d2d627066ULL

union zmem_question {
	struct {
		__u8 share;  /* processes with pid % `shares` == `share` */
		__u8 lane;   /* of memos, from 1 on; 0: none. Programs pinned before memos take 0 */
		__u8 shares; /* 0: all processes */
		__u8 unused;
		__s32 pid; /* only that process, in the reader's pid namespace; 0: all */
	};
	__u64 bits;
};

/*
 * What a reader needs to count tables that are mapped many times once (bpf/memo.bpf.h). Only the
 * process that loaded the program has the map. It sets the first members before a collection and
 * clears them after it.
 */
#define ZMEM_MEMO_LANES 8
#define ZMEM_MEMO_KEYS	8

struct zmem_memo_lane {
	__u64 slots;		       /* of this lane, a power of 2; 0: no memos */
	__u64 key[ZMEM_MEMO_KEYS + 1]; /* odd; the last one begins a signature */
	/* In the kernel: the signature of the table at hand. */
	__u64 signature;
	__u64 present;
	__u64 odd;   /* not 0: there are entries of other kinds */
	__u64 found; /* the signature before the walk */
	__u64 count; /* entries; 0: no memo will be kept */
	/* Sums before the walk of the table, as in struct zmem_pages. */
	__u64 seen[3];
	__u64 pss[3];
	__u64 unique;
};

/* Random round keys that scramble addresses. */
#define ZMEM_SCRAMBLE_ROUNDS 27

struct zmem_scramble {
	__u32 round[ZMEM_SCRAMBLE_ROUNDS];
};

#endif
