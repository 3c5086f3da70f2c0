/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What holds files of shared memory (bpf/held.bpf.c, bpf/held_file.bpf.h): what user space asks and
 * the programs answer, in maps that only the process that loaded them has. Addresses serve as
 * numbers alone.
 */
#ifndef ZMEM_HELD_H
#define ZMEM_HELD_H

#ifndef __bpf__
#include <linux/types.h>
#endif

/* Groups of processes are numbered from 1 on. */
#define ZMEM_HELD_MIXED	 0	     /* several groups, or a process outside of all groups */
#define ZMEM_HELD_NONE	 0xffffffffU /* no reference was met */
#define ZMEM_HELD_READER 0xfffffffeU /* the reader, which will have ended */

/* A process: the group of itself, its descriptors and its directories, and of its memory. */
struct zmem_held_want {
	__u32 group;
	__u32 mm_group;
};

enum zmem_held_kind {
	ZMEM_HELD_NOTHING, /* the file is of no interest */
	ZMEM_HELD_SHMEM,
	ZMEM_HELD_SECRET,  /* memfd_secret(2), which has no directory */
	ZMEM_HELD_CARRIER, /* it holds files: a unix socket, a ring of io_uring */
	ZMEM_HELD_SPACE,   /* it holds a namespace */
	ZMEM_HELD_MAPPED,  /* kernel memory, of which only mappings are counted */
};

/* An open file, by its address. */
struct zmem_held_file {
	__u64 file, inode, dentry;
	__u64 number; /* of the inode */
	__u64 pages;  /* of the inode in RAM */
	/* For an attached System V segment: the file of the segment, which it holds. */
	__u64 segment;
	__u64 space; /* with `segment`: the namespace, which it holds as well */
	__s64 refs;  /* the kernel's count of references, when one was met last */
	__u32 met;   /* of these: found at processes, but the reader */
	__u32 maps;  /* of `met`: mappings */
	__u32 own;   /* of these: the reader's */
	__u32 group; /* that all of `met` belong to */
	__s32 names; /* the count of its dentry */
	__u32 links;
	__u32 device;
	__u32 kind;
	/* By user space: OR of enum zmem_held_doubt of what holds it. */
	__u32 doubt;
	__u32 unused;
};

enum zmem_held_doubt {
	ZMEM_HELD_UNKNOWN = 1 << 0, /* a reference that no holder explains */
	ZMEM_HELD_MOVED = 1 << 1,   /* more references were met than there are */
};

/* A file that a carrier holds. */
struct zmem_held_edge {
	__u64 carrier, file;
};

/* Kinds of namespaces: the end of one frees memory. */
enum zmem_held_space {
	ZMEM_SPACE_MOUNT,
	ZMEM_SPACE_IPC,
	ZMEM_SPACES,
};

/* A set of namespaces (nsproxy), by its address. Namespaces are known by their ns_common. */
struct zmem_held_set {
	__u64 space[ZMEM_SPACES];
	__s32 space_refs[ZMEM_SPACES]; /* the kernel's count */
	__s32 refs;		       /* the kernel's count of tasks with the set, */
	__u32 met, own;		       /* and those that were met */
	__u32 group;
};

/* A namespace of which there is a descriptor, which all are one reference. */
struct zmem_held_named {
	__u64 space;
	__u32 group;
	__u32 own;
};

#define ZMEM_HELD_REFS_UNKNOWN (1LL << 40)

/* A mounted tmpfs, by the address of its super block. */
struct zmem_held_mount {
	__u64 space; /* the mount namespace of all its mounts; 0: none, since they were unmounted */
	__u32 device;
	__u32 group; /* of tasks with a directory there */
	/*
	 * All references of its mounts, or ZMEM_HELD_REFS_UNKNOWN; those by namespaces, by mounts
	 * and by directories.
	 */
	__s64 refs;
	__u32 met;
	__u32 own; /* directories of the reader */
};

/* A System V segment, by the address of its file. */
struct zmem_held_segment {
	__u64 file;
	__u64 space;
	__u32 ends; /* 1: with the last process that has attached it */
	__u32 unused;
};

/* A table of descriptors, which several tasks may have. */
struct zmem_held_table {
	__u64 task; /* that it was met at first */
	__u32 group;
	__u32 unused;
};

struct zmem_held {
	/* Set by user space before a run of list_segments and of check_file. */
	__u64 space;	   /* an IPC namespace */
	__u64 file, inode; /* of a struct zmem_held_file */
	/* By check_file: as they are now. */
	__s64 refs;
	__s32 names;
	__u32 maps; /* all VMAs that map the inode */
	/* By each program. */
	__u32 full; /* not 0: a map was full */
	__u32 edges;
};

#endif
