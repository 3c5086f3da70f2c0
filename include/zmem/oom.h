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
#define ZMEM_OOM_BUDGET_NS 5000000ULL
/* And so long those that were not read are counted. */
#define ZMEM_OOM_COUNT_NS   1000000ULL
#define ZMEM_OOM_EPISODE_NS 2000000000ULL
/* 5,000 processes; a power of two and of pages. */
#define ZMEM_OOM_RING (1 << 21)
/* Of it the room that other processes leave: 100 victims and their ends. */
#define ZMEM_OOM_KEPT (1 << 18)

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

/*
 * Bounds of a path: levels below the root, and words of its names. A path of 511 bytes in so many
 * levels fits, because a level has up to 8 bytes beside its name and the '/'.
 */
#define ZMEM_OOM_LEVELS	    32
#define ZMEM_OOM_PATH_WORDS 96

enum zmem_oom_path_status {
	ZMEM_OOM_PATH_NONE = 0, /* not read: no memory cgroups in this kernel, or no victim */
	ZMEM_OOM_PATH_KNOWN = 1,
	ZMEM_OOM_PATH_LONG = 2,	 /* beyond the bounds */
	ZMEM_OOM_PATH_RACED = 3, /* a cgroup was renamed meanwhile */
};

/*
 * A cgroup in the hierarchy with the memory controller: the names of its directories from the
 * lowest one up, without that of the root. Each name ends with a NUL and fills whole words.
 */
struct zmem_oom_path {
	__u32 status;	 /* enum zmem_oom_path_status; the others count if it is KNOWN */
	__u32 words;	 /* of the names */
	__u32 levels;	 /* names */
	__u32 memory_up; /* levels above it at which the memory controller is (v2) */
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
	__u32 unread;  /* processes behind the last one that was read */
	__u32 counted; /* 1: these are all; 0: the time was over before the last one of them */
	struct zmem_oom_path victim;
	struct zmem_oom_path root; /* of the reader's cgroup namespace, of the same hierarchy */
	/* Those of the victim and, behind them, of the root. The message ends with the last one. */
	__u64 names[2 * ZMEM_OOM_PATH_WORDS];
};

#endif
