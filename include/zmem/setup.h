/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What user space hands to the BPF programs before and between their runs, and gets back. Shared by
 * both sides; addresses of the kernel stay in the kernel's maps.
 */
#ifndef ZMEM_SETUP_H
#define ZMEM_SETUP_H

#ifndef __bpf__
#include <linux/types.h>
#endif

/* cpu_offset_setup: finds the per-CPU offset of one CPU. */
struct zmem_cpu_setup {
	__u32 index; /* in the table of offsets */
	__u32 cpu;
};

/*
 * What calibration starts from, in a map that only who loaded the program has: two resident pages
 * of the process that then reads the iterator. `file_addr` maps the one page of a memfd, which
 * begins with `content`; `anon_addr` is anonymous and PROT_NONE.
 */
struct zmem_calibrate {
	__u64 file_addr; /* 0: not asked for, or answered */
	__u64 anon_addr;
	__u64 content;	 /* random, so that nothing else is it by chance */
	__u64 pfn_end;	 /* behind the highest page of RAM */
	__u64 phys_mask; /* those bits of a page table entry that can be an address of RAM */
	__u64 page_bits; /* of the size of a page */
};

/* What it could not confirm. */
enum zmem_calibrate_result {
	ZMEM_NOT_CALIBRATED,
	ZMEM_CALIBRATED,
	ZMEM_UNKNOWN_SIZE,  /* of a page, or so much RAM that its addresses do not fit */
	ZMEM_NO_DIRECT_MAP, /* the content is at no base that was tried */
	ZMEM_NO_FOLIO,	    /* the file's page cache does not hold one page */
	ZMEM_BAD_MEMMAP,    /* the struct page of the file's page says something else */
	ZMEM_BAD_ANON,	    /* likewise of the anonymous page, or it was not found */
};

/* The answer: what the iterator then shows in place of records. */
struct zmem_calibrated {
	__u32 result; /* enum zmem_calibrate_result */
};

/*
 * What a thread that reads an iterator asks for. It says so in the arguments of its read(2) that
 * the call itself does not take, from the fourth on: ZMEM_ASK, zmem_question.bits, and where the
 * walk of page tables goes on (zmem_pages.cursor, or 0). So asking needs neither a right nor a map,
 * and whoever asks nothing (cat) is shown everything.
 */
#define ZMEM_ASK 0x7a6d656d2d627066ULL

union zmem_question {
	struct {
		__u16 share;  /* processes whose number modulo `shares` is this one */
		__u16 shares; /* 0: of all */
		__s32 pid;    /* only that process, in the reader's pid namespace; 0: all */
	};
	__u64 bits;
};

/* Random bits that addresses are made unrecognisable with. */
#define ZMEM_SCRAMBLE_ROUNDS 27

struct zmem_scramble {
	__u32 round[ZMEM_SCRAMBLE_ROUNDS];
};

#endif
