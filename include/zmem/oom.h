/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the program on the tracepoint mark_victim hands to user space, through a ring buffer: for
 * each kill a record of the victim, then at most once in ZMEM_OOM_EPISODE_NS one of every other
 * process, then an end.
 */
#ifndef ZMEM_OOM_H
#define ZMEM_OOM_H

#include "zmem/record.h"

/* The tracepoint holds a spinlock of the victim: so long other processes are read. */
#define ZMEM_OOM_BUDGET_NS  5000000ULL
#define ZMEM_OOM_EPISODE_NS 2000000000ULL
/* 6,000 processes; a power of two and of pages. */
#define ZMEM_OOM_RING (1 << 21)

/* What is read of each kill; the argument of oom_setup, a u64. */
enum zmem_oom_scope {
	ZMEM_OOM_TABLES = 0, /* the victim and, once an episode, all other processes */
	ZMEM_OOM_VICTIMS = 1,
};

enum zmem_oom_what {
	ZMEM_OOM_VICTIM = 1,
	ZMEM_OOM_PROCESS = 2,
	ZMEM_OOM_END = 3,
};

struct zmem_oom_head {
	__u32 what; /* enum zmem_oom_what */
	__u32 kill; /* counts kills; a number that is missing was lost with its end */
};

struct zmem_oom_record {
	struct zmem_oom_head head;
	/* The counters without their parts per CPU, as the kernel's own lines may show them. */
	__s64 count[ZMEM_RSS_COUNT];
	struct zmem_record record;
};

struct zmem_oom_end {
	struct zmem_oom_head head;
	__u64 boottime_ns;
	__u64 took_ns; /* in the tracepoint, up to this record */
	__s32 pid;     /* of the victim, in the first pid namespace */
	__u32 table;   /* 1: other processes were read as well */
	__u32 listed;  /* records that were written */
	__u32 lost;    /* records that the ring had no room for */
	__u32 late;    /* 1: the time was over before the last process */
	__s32 tid;     /* of the thread that the kernel named; pid, if it was not found */
};

#endif
