/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What bpf/census.bpf.c answers about page frames: how many there are of each kind, and to which
 * memory cgroup they are charged. The answer is one value of a map, which the one process that
 * loaded the program maps into its memory. Each run of the program looks at some of the frames that
 * were asked for.
 */
#ifndef ZMEM_CENSUS_H
#define ZMEM_CENSUS_H

#include "zmem/oom.h"

#ifndef __bpf__
#include <linux/types.h>
#endif

/* What a frame is, by its struct page or by that of the folio that it is a part of. */
enum zmem_frame {
	ZMEM_FRAME_HOLE,	/* no RAM: no struct page, or one that was never set up */
	ZMEM_FRAME_RESERVED,	/* PG_reserved: also no RAM, between two pieces of RAM */
	ZMEM_FRAME_POISONED,	/* PG_hwpoison: bad RAM */
	ZMEM_FRAME_BUDDY,	/* free, in the buddy allocator */
	ZMEM_FRAME_LISTED,	/* free, on a list of a CPU, or just being freed */
	ZMEM_FRAME_ANON,	/* anonymous and mapped */
	ZMEM_FRAME_ANON_CACHED, /* likewise, also in the swap cache */
	ZMEM_FRAME_ANON_UNMAPPED,
	ZMEM_FRAME_ANON_REST,  /* not mapped, and others of its folio are */
	ZMEM_FRAME_SWAP_CACHE, /* in the swap cache and not mapped; also of shared memory */
	ZMEM_FRAME_FILE,       /* page cache, mapped */
	ZMEM_FRAME_FILE_UNMAPPED,
	ZMEM_FRAME_SHMEM,
	ZMEM_FRAME_SHMEM_UNMAPPED,
	ZMEM_FRAME_TRUNCATED, /* was page cache; something holds it */
	ZMEM_FRAME_MOVABLE,   /* of the kernel, with operations to move it (zsmalloc until 6.11) */
	ZMEM_FRAME_RING,      /* of a page pool: the receive ring of a network card */
	ZMEM_FRAME_MAPPED,    /* of the kernel without a mark, mapped into a process by a driver */
	ZMEM_FRAME_KERNEL,    /* of the kernel without a mark */
	ZMEM_FRAME_PERCPU,    /* of per-CPU memory, but its first chunk */
	ZMEM_FRAME_SLAB,
	ZMEM_FRAME_TABLE,
	ZMEM_FRAME_OFFLINE, /* given back by a balloon */
	ZMEM_FRAME_UNACCEPTED,
	ZMEM_FRAME_HUGETLB, /* in use */
	ZMEM_FRAME_HUGETLB_FREE,
	ZMEM_FRAME_ZSMALLOC,
	ZMEM_FRAME_LARGE_KMALLOC,
	ZMEM_FRAME_TYPED, /* it has another type */
	ZMEM_FRAMES,
};

/* Blocks of 2^order frames without a mark; the last one also has all larger ones. */
#define ZMEM_CENSUS_ORDERS 11

/*
 * Until 6.11 a type is a bit that is cleared. Which bit is which type changed several times, and
 * BTF does not have it: frames are also counted by bit, from PG_buddy (0x80) on.
 */
#define ZMEM_CENSUS_TYPES 8
#define ZMEM_CENSUS_BUDDY 0 /* the bit of PG_buddy in all kernels: include/linux/page-flags.h */

/* Blocks of frames that one run looks at at most, and the time after which it ends. */
#define ZMEM_CENSUS_STEPS 65536
#define ZMEM_CENSUS_NS	  500000
/* Before 5.17 there is no bpf_loop(). */
#define ZMEM_CENSUS_STEPS_OLD 1024

/* What the running kernel marks. */
enum zmem_census_marks {
	ZMEM_MARKS_TYPES = 1 << 0, /* a type is a number, and known by name (since 6.12) */
	ZMEM_MARKS_ZSMALLOC = 1 << 1,
	ZMEM_MARKS_KMALLOC = 1 << 2,
	ZMEM_MARKS_PERCPU = 1 << 3,
};

/* The parts of RAM of one request. */
#define ZMEM_CENSUS_PIECES 512
/* No part of RAM that can be absent is smaller (SUBSECTION_SIZE, include/linux/mmzone.h). */
#define ZMEM_CENSUS_ABSENT 512

enum zmem_charge {
	ZMEM_CHARGE_ANON,
	ZMEM_CHARGE_FILE,
	ZMEM_CHARGE_SHMEM,
	ZMEM_CHARGE_KERNEL,
	ZMEM_CHARGES,
};

/* The frames that are charged to one owner. */
struct zmem_census_owner {
	__u64 key; /* the address of a mem_cgroup, or of an obj_cgroup; 0: no owner */
	__u64 frames[ZMEM_CHARGES];
};

/*
 * With `files`, a row is of a file and an owner: its frames are frames[ZMEM_CHARGE_FILE], and these
 * are its places.
 */
#define ZMEM_CHARGE_FILE_AT    ZMEM_CHARGE_ANON /* the file in wanted[] */
#define ZMEM_CHARGE_OWNER_AT   ZMEM_CHARGE_SHMEM

#define ZMEM_CENSUS_OWNER_BITS 14
#define ZMEM_CENSUS_OWNERS     (1 << ZMEM_CENSUS_OWNER_BITS)
/* An owner is at one of so many places; where all are taken, its frames are in `others`. */
#define ZMEM_CENSUS_PROBES 16

/* The frames of a page pool, of which each receive queue of a network card has one. */
struct zmem_census_pool {
	__u64 key; /* the address of the page_pool; 0: none */
	__u64 frames;
};

/* The files that are asked for: a table of the addresses of their mappings. */
#define ZMEM_CENSUS_FILE_BITS 13
#define ZMEM_CENSUS_FILES     (1 << ZMEM_CENSUS_FILE_BITS)
/* Where an address is looked for: from this place on, ZMEM_CENSUS_PROBES of them. */
#define ZMEM_CENSUS_FILE_PLACE(mapping)                                                            \
	((mapping)*0x9e3779b97f4a7c15ULL >> (64 - ZMEM_CENSUS_FILE_BITS))

#define ZMEM_CENSUS_POOLS 256
#define ZMEM_DEVICE_NAME  32

struct zmem_census {
	/* Set by user space: */
	__u64 vmemmap;			    /* the array of struct page (struct zmem_layout) */
	__u32 pieces;			    /* how many; the next run begins with the first one */
	__u32 files;			    /* count by file and owner, of the files in wanted[] */
	__u64 piece[ZMEM_CENSUS_PIECES][2]; /* the first frame and one behind the last one */
	/* Where the run is: */
	__u32 at;    /* the next piece */
	__u32 done;  /* all pieces were looked at */
	__u32 last;  /* enum zmem_frame of the last frame that was the first one of a block */
	__u32 marks; /* enum zmem_census_marks */
	__u64 pfn, end;
	__u64 until; /* when the run ends; ns since boot */
	__u64 owner; /* of the last frames, and their numbers */
	__u64 owned[ZMEM_CHARGES];
	__u64 file_at, file_owner; /* with `files`: of the same frames */
	__u64 word[8];		   /* a struct page */
	/* Sums. User space clears them. */
	__u64 steps;
	__u64 frames[ZMEM_FRAMES];
	__u64 blocks[ZMEM_CENSUS_ORDERS]; /* frames of ZMEM_FRAME_KERNEL, by the order of their
					     block */
	__u64 types[ZMEM_CENSUS_TYPES];
	__u64 charged; /* of ZMEM_CHARGE_KERNEL, of all owners */
	__u64 others[ZMEM_CHARGES];
	struct zmem_census_owner owners[ZMEM_CENSUS_OWNERS];
	__u64 wanted[ZMEM_CENSUS_FILES];
	/* Pools that find no place are not counted. */
	struct zmem_census_pool pools[ZMEM_CENSUS_POOLS];
	/* Set by user space: whom name_owner or name_pool is asked for. */
	__u64 key;
	/* The answer of name_pool: */
	char device[ZMEM_DEVICE_NAME];
	/* The answer of name_owner: */
	__u64 memcg; /* the address of the mem_cgroup; 0: it is none, or no longer */
	__u64 id;    /* of the cgroup: the inode of its directory */
	__u32 deleted;
	__u32 reserved;
	struct zmem_oom_path path;
	__u64 walk[6]; /* where the program is in the path */
	__u64 names[ZMEM_OOM_PATH_WORDS];
};

#endif
