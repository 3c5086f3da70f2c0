/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Command lines (bpf/arguments.bpf.c). What is asked for is one value of a map, which the one
 * process that loaded the program maps into its memory. An iterator writes the answers.
 */
#ifndef ZMEM_ARGUMENTS_H
#define ZMEM_ARGUMENTS_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#include "zmem/setup.h"

/* The longest text of a record. The buffer of an iterator has 32 KiB (kernel/bpf/bpf_iter.c). */
#define ZMEM_ARGUMENTS_TEXT 16384
/* One more than the highest pid: PID_MAX_LIMIT, include/linux/threads.h. */
#define ZMEM_ARGUMENTS_PIDS (1 << 22)
/* So many threads at most read at a time. */
#define ZMEM_ARGUMENTS_READERS 4

struct zmem_arguments {
	struct zmem_layout at;
	/*
	 * A page of the reader, and its first word. The next visit finds the direct map by it, sets
	 * `at`, and own_addr to 0.
	 */
	__u64 own_addr;
	__u64 own_content;
	__u64 skip;    /* so many bytes of each command line are known */
	__u64 readers; /* a process is read by the reader with the number tgid % readers */
	__u64 wanted[ZMEM_ARGUMENTS_PIDS / 64]; /* a bit for each pid */
	/* In the kernel; 0 at the beginning. The pid namespace of the readers, and their tasks. */
	__u64 view_ns, view_level;
	__u64 reader[ZMEM_ARGUMENTS_READERS];
	/* Of a visit, for each reader. Only the first half is used: room for the verifier. */
	char text[ZMEM_ARGUMENTS_READERS][2 * ZMEM_ARGUMENTS_TEXT];
};

/* A process that is wanted. Its text follows. */
struct zmem_arguments_record {
	__u64 start_boottime_ns; /* as in struct zmem_record */
	__u64 execs;		 /* self_exec_id: another number after exec */
	__s32 pid;		 /* in the reader's namespace */
	__u32 len;		 /* bytes of the text, from `skip` on */
	__u32 whole;		 /* bytes of the command line */
	__u32 unread;		 /* 1: only /proc can tell it */
};

#endif
