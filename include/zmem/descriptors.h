/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Kernel memory that processes hold by their descriptors (bpf/descriptors.bpf.c): the records of
 * the iterator. Addresses serve as numbers alone: only the process that loaded the program gets
 * them.
 */
#ifndef ZMEM_DESCRIPTORS_H
#define ZMEM_DESCRIPTORS_H

#ifndef __bpf__
#include <linux/types.h>
#endif

/* The words are in src/model/descriptors.c. */
enum zmem_descriptor_kind {
	/* Open files, and the table of descriptors. */
	ZMEM_DESCRIPTOR_FILE,
	ZMEM_DESCRIPTOR_PIPE,
	ZMEM_DESCRIPTOR_TCP,
	ZMEM_DESCRIPTOR_UDP,
	ZMEM_DESCRIPTOR_UNIX,
	ZMEM_DESCRIPTOR_NETLINK,
	ZMEM_DESCRIPTOR_SOCKET, /* of other families */
	ZMEM_DESCRIPTOR_PACKET, /* rings of AF_PACKET */
	ZMEM_DESCRIPTOR_XDP,
	ZMEM_DESCRIPTOR_BPF_MAP,
	ZMEM_DESCRIPTOR_BPF_PROG,
	ZMEM_DESCRIPTOR_IO_URING,
	ZMEM_DESCRIPTOR_PERF,
	ZMEM_DESCRIPTOR_EPOLL,
	ZMEM_DESCRIPTOR_INOTIFY,
	ZMEM_DESCRIPTOR_KVM,
	ZMEM_DESCRIPTOR_KINDS,
};

/*
 * An object of less has no record of its own: it is divided by the references to its file, and
 * added to the sum of its kind.
 */
#define ZMEM_DESCRIPTOR_LARGE 8192

/* 64 bytes. */
struct zmem_descriptor {
	__u64 object; /* what holds the memory; 0: the sum of small ones of a kind of a process */
	__u64 file;   /* the open file that leads to it */
	__u64 bytes;
	__u64 mapped; /* other bytes, which count in RSS of the processes that map them; of a map: 1
		       */
	__s64 refs;   /* the references to the file; of a map or a program those to it */
	/* Of a sum: of objects that only this process holds. Of a pipe: its pages. Of a map: its
	 * id. */
	__u64 own;
	__s32 pid; /* as the reader sees it */
	__u32 fd;
	__u32 descriptors; /* 1, or of a sum */
	__u16 kind;	   /* enum zmem_descriptor_kind */
	/* Of a pipe: the open files that share it. Of a map or a program: the references to the
	 * file. */
	__u16 files;
};

struct zmem_descriptor_sum {
	__u64 bytes, own;
	__u64 descriptors;
};

/* A read(2) looks at no more, so that the reader sees how long it takes. */
#define ZMEM_DESCRIPTOR_FILES 65536

/* What the program keeps between two files. User space clears it before each reading. */
struct zmem_descriptors {
	__u64 leader;	 /* the process of the sums */
	__s32 pid;	 /* its number: where the iterator is, if it stopped here */
	__u32 page_bits; /* set by user space */
	__u64 direct;	 /* the direct map, and the array of struct page; 0: not known */
	__u64 vmemmap;
	__u64 files; /* descriptors that this read(2) has looked at */
	__u64 half;  /* the pipe that the last descriptor is one of two ends of */
	__u64 alone; /* not 0: no other process has the table of descriptors */
	struct zmem_descriptor_sum sum[ZMEM_DESCRIPTOR_KINDS];
};

#endif
