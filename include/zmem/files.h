/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What BPF programs answer about files: the inodes with cached pages (bpf/files.bpf.c), the holders
 * of a file (bpf/holders.bpf.c), and the walk over its swapped pages (bpf/page_tree.bpf.h, also of
 * bpf/swap.bpf.c). An answer is one value of a map, which the one process that loaded the program
 * maps into its memory. Each run of a program is a visit: it continues where the visit before it
 * stopped.
 */
#ifndef ZMEM_FILES_H
#define ZMEM_FILES_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define ZMEM_FILES_BATCH 1024 /* records of one visit */
#define ZMEM_FILES_STEPS 2048 /* inodes and names that one visit looks at: below 1 ms */
#define ZMEM_FILE_TEXT	 432  /* bytes of names of a record */
#define ZMEM_NAME_PART	 256  /* bytes of one name: NAME_MAX and the terminator */

#define ZMEM_FILE_NAMES	 24 /* names of a record: of a file and the directories above it */

#define ZMEM_INODE_WORDS 64

/* What a record is. */
enum zmem_file_kind {
	/* A file system; its inodes follow. A second one with the same number: it is read again,
	 * and its inodes so far are void. */
	ZMEM_FILE_SYSTEM = 1,
	ZMEM_FILE_INODE = 2,
	/* The list of inodes of the file system changed at every try. */
	ZMEM_FILE_UNSURE = 3,
};

enum zmem_file_flags {
	ZMEM_FILE_SHMEM = 1 << 0,  /* shared memory or tmpfs */
	ZMEM_FILE_MAPPED = 1 << 1, /* some process maps it */
	ZMEM_FILE_DIRTY = 1 << 2,  /* a page waits to be written */
	ZMEM_FILE_CUT = 1 << 3,	   /* text lacks the directories at the top */
	/* A file system: the kernel's own mount of shared memory. */
	ZMEM_FILE_KERNEL_MOUNT = 1 << 4,
	/* The file is in no directory, and never was. Also the root of a file system. */
	ZMEM_FILE_ALONE = 1 << 5,
	ZMEM_FILE_HUGETLB = 1 << 6, /* of a hugetlbfs */
	ZMEM_FILE_DEST = 1 << 7,    /* a segment that was removed, and is attached (SHM_DEST) */
};

/* 512 bytes. */
struct zmem_file {
	__u64 pages;   /* in RAM, of the base size; of a hugetlbfs: blocks of 512 bytes */
	__u64 swapped; /* pages in swap; of shared memory alone */
	__u64 size;    /* bytes */
	__u64 inode;   /* of a file */
	__u32 device;  /* the kernel's dev_t of the file system */
	__u32 rdev;    /* of a device file */
	__u32 links;
	__u32 system; /* the number of the file system in this walk */
	__u32 mode;
	__u16 text_len;
	__u8 kind;  /* enum zmem_file_kind */
	__u8 flags; /* enum zmem_file_flags */
	/*
	 * The address of its mapping, by which user space finds the file again; 0: none. The kernel
	 * uses the memory of a file again, so a file is known by mapping, inode and generation.
	 */
	__u64 mapping;
	__u32 generation;
	__u32 reserved;
	/*
	 * For shared memory, if `least` is set: the owner that its last page in RAM is charged to,
	 * as in struct zmem_census_owner; 0: none was found.
	 */
	__u64 owner;
	/*
	 * Names, each with a terminator: of the file, of its directory, and so on up to the root.
	 * Of a file system: its type.
	 */
	char text[ZMEM_FILE_TEXT];
};

/* What is asked for: set by user space at the beginning. */
enum zmem_files_mode {
	ZMEM_FILES_ALL,	  /* a record for each file */
	ZMEM_FILES_SUMS,  /* a record for each file of shared memory and tmpfs; page cache summed */
	ZMEM_FILES_SHMEM, /* a record for each file of shared memory and tmpfs; no others */
};

enum zmem_files_state {
	ZMEM_FILES_BEGIN,   /* set by user space, with memfd */
	ZMEM_FILES_MORE,    /* another visit is needed */
	ZMEM_FILES_DONE,    /* all file systems were visited */
	ZMEM_FILES_CHANGED, /* the place of the last visit is gone: begin again */
	ZMEM_FILES_UNKNOWN, /* the kernel's lists are not as we know them */
};

struct zmem_files {
	__u32 state;  /* enum zmem_files_state */
	__u32 memfd;  /* a descriptor of the process that runs the program */
	__u32 count;  /* records of this visit */
	__u32 system; /* the number of the file system at hand, from 0 on */
	/* Where the walk is: addresses, which user space has no use for. */
	__u64 own_super; /* of our memfd: the first one */
	__u64 super, node, operations;
	__u64 next; /* behind `node`, as it was when that was read; 0: to be read */
	__u64 node_inode, node_generation; /* of the inode at `node` */
	__u32 restarts;			   /* of this file system */
	__u32 retries;			   /* of this node */
	__u32 hugetlb;			   /* this file system is a hugetlbfs */
	__u32 mode;			   /* enum zmem_files_mode */
	__u32 steps;			   /* of this visit */
	__u32 least; /* set by user space: files with fewer pages have no record; 0: all have */
	/* ZMEM_FILES_SUMS: pages of page cache, of the file systems before this one and of it. */
	__u64 cache_before, cache_here;
	__u64 block[ZMEM_INODE_WORDS]; /* the members of one inode that are always read */
	struct zmem_file file[ZMEM_FILES_BATCH];
	char slack[ZMEM_NAME_PART]; /* the last name may run over its record */
};

/* ---- the holders of a file (bpf/holders.bpf.c) ---- */

/*
 * A process. The iterator list_open writes one for each file that the process has open, list_mm one
 * for its address space.
 */
struct zmem_holder {
	__u64 key;	  /* the address of the file's mapping (struct zmem_file), or of the mm */
	__u64 inode;	  /* of list_open, as the next one */
	__u32 generation; /* of the inode */
	__s32 pid;	  /* in the pid namespace of the reader */
	char comm[16];	  /* any bytes behind the first NUL */
	__u64 start_boottime_ns;
};

/* A process that has a file of a GPU or a dma-buf open (bpf/gpu.bpf.c); one for each such file. */
struct zmem_gpu_holder {
	__s32 pid; /* in the pid namespace of the reader */
	__u32 reserved;
};

/* A dma-buf (bpf/dmabuf.bpf.c). */
struct zmem_dmabuf {
	__u64 inode; /* as in fdinfo */
	__u64 bytes;
};

#define ZMEM_MAPPERS_MAX   65536
#define ZMEM_MAPPERS_STEPS 512 /* nodes of both trees that a visit looks at: below 1 ms */

enum zmem_mappers_state {
	ZMEM_MAPPERS_BEGIN, /* set by user space, with the file in `tree` */
	ZMEM_MAPPERS_MORE,  /* another visit is needed */
	ZMEM_MAPPERS_DONE,
	ZMEM_MAPPERS_GONE,    /* the file is gone, or another one has its place: no mappers */
	ZMEM_MAPPERS_CHANGED, /* the place of the last visit is gone: begin again */
	ZMEM_MAPPERS_MANY,    /* there are too many VMAs */
};

/* A VMA, or several of one address space in a row. */
struct zmem_mapper {
	__u64 mm;
	__u64 swapped; /* with count_swap: pages of the file in swap, of the part that is mapped */
};

/*
 * A private mapping that can be written: the process can have copies of pages that are in swap in
 * the file, and only its page tables tell which.
 */
#define ZMEM_MAPPER_UNKNOWN (~0ULL)

/* A walk over the swapped pages of a file (bpf/page_tree.bpf.h). */
struct zmem_tree {
	__u64 mapping, inode, generation; /* the file: struct zmem_file */
	__u64 first, last;		  /* the pages that are looked at */
	__u64 index;			  /* the next one */
	__u64 value;			  /* the entry at hand */
	__u64 found;
	__u64 slot[64]; /* of one node */
};

/* The address spaces that map one file. */
struct zmem_mappers {
	/* Where the walk is: a VMA by its node, and what it was there when the last visit ended. */
	__u64 node, node_mm, node_start, node_end, node_offset;
	__u32 state; /* enum zmem_mappers_state */
	__u32 count;
	__u32 steps;	/* of this visit */
	__u32 counting; /* the swapped pages of the VMA are being counted: `tree` */
	/* The last part of the file that was counted; VMAs of the same part follow each other. */
	__u64 part_first, part_last, part_swapped;
	__u32 count_swap; /* set by user space: the file is shared memory, count its swapped pages
			   */
	__u32 page_bits;  /* set by user space */
	struct zmem_tree tree;
	struct zmem_mapper mapper[ZMEM_MAPPERS_MAX];
};

#endif
