/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What processes lost to reclaim and read from swap, as bpf/waits.bpf.c counts them. */
#ifndef ZMEM_WAITS_H
#define ZMEM_WAITS_H

#ifndef __bpf__
#include <linux/types.h>
#endif

/* Processes that are counted, and threads that are in reclaim at the same time. */
#define ZMEM_WAITS	 8192
#define ZMEM_WAITS_BEGUN 4096

/* A process that waited for memory, or read from swap. The key is its pid in the first namespace.
 */
struct zmem_wait {
	__u64 start_boottime_ns;
	__u64 reclaim_ns; /* of all its threads */
	__u64 swapins;	  /* folios */
	__s32 pid;	  /* in the namespace of the reader */
	__u32 unused;
};

/* A thread that is in reclaim. The key is its number in the first namespace. */
struct zmem_wait_begun {
	__u64 ns;   /* CLOCK_MONOTONIC */
	__u32 tgid; /* the key of its process */
	__u32 unused;
};

/* Events that are in no entry, because a map was full. */
struct zmem_waits_lost {
	__u64 events;
};

#endif
