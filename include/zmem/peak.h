/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the programs of bpf/peak.bpf.c count and send: the sum of the resident memory of processes
 * and all their descendants, its highest value, and the part of each process in it. A target is an
 * address space.
 */
#ifndef ZMEM_PEAK_H
#define ZMEM_PEAK_H

#include "zmem/record.h"
#include "zmem/setup.h"

#define ZMEM_PEAK_TARGETS 8192	    /* address spaces at once */
#define ZMEM_PEAK_RING	  (1 << 20) /* bytes; a power of two and of pages */
#define ZMEM_PEAK_HIGHS	  64	    /* a power of two */

struct zmem_peak_settings {
	__u32 targets; /* room for so many, at most ZMEM_PEAK_TARGETS */
	/* 1: a process that is visited is one of ours, but its memory is not, until it executes. */
	__u32 later;
};

/* A new highest sum. */
struct zmem_peak_high {
	__u64 number; /* 1 is the first one */
	__u64 time;   /* CLOCK_MONOTONIC, ns */
	__s64 rss;    /* pages, as all here */
	__s64 pages[ZMEM_RSS_COUNT];
	__u32 processes;
	__u32 threads;
};

/* Mapped by user space, which takes `recent`. */
struct zmem_peak_state {
	__s64 rss;
	__s64 recent; /* the highest since user space took it */
	__s64 most;   /* the highest */
	__s64 pages[ZMEM_RSS_COUNT];
	__u64 number;	 /* of highest sums so far */
	__u64 events;	 /* changes that were added */
	__u64 all;	 /* processes so far */
	__u64 no_room;	 /* address spaces that are not in the sum */
	__u64 lost;	 /* messages that were not sent */
	__s64 targets;	 /* of which there has been an address space: those with a lower number */
	__u32 processes; /* now */
	__u32 threads;
	__u32 visited; /* of the visited ones, those that have not ended */
	__u32 unused;
	/* The last ones; number n is at n % ZMEM_PEAK_HIGHS. */
	struct zmem_peak_high high[ZMEM_PEAK_HIGHS];
};

/* An address space, by its number. */
struct zmem_peak_target {
	__u64 mm; /* 0: free */
	/* With percpu counters: the parts of CPUs; 0: there are none. */
	__u64 counters[ZMEM_RSS_COUNT];
	__s64 last_count[ZMEM_RSS_COUNT];
	__s64 pages[ZMEM_RSS_COUNT];
	/* What it had at the highest sum `number`. Of a later one it is `pages`, which have not
	 * changed since. */
	__s64 at_high[ZMEM_RSS_COUNT];
	__u64 number;
	__s64 most;
	__u64 start; /* of the process that it belongs to, as below */
	__u32 tgid;  /* its number in the first namespace */
	__s32 pid;   /* likewise, in the reader's; 0: it has none there */
	__u32 ending;
	__u32 unused;
	__u64 comm[2];
};

/* The part of one CPU in the counters of a target; entry cpu * settings.targets + target. */
struct zmem_peak_cpu {
	__s32 last[ZMEM_RSS_COUNT];
};

/* A process of ours, by its number in the first namespace. */
struct zmem_peak_process {
	__u64 start; /* since boot, ns: tells a later process with the same number */
	__u64 mm;
	__s64 most; /* of its earlier address spaces */
	__s32 pid;
	__s32 ppid;
	__u32 target;
	__u16 shared;  /* 1: its address space was its parent's */
	__u16 visited; /* 1: it ran before */
};

enum zmem_peak_what {
	ZMEM_PEAK_EXIT = 1, /* a process has ended: most */
	ZMEM_PEAK_END,	    /* an address space has ended: number and pages at that high */
};

struct zmem_peak_message {
	__u32 what; /* enum zmem_peak_what */
	__s32 pid;
	__s32 ppid;
	__u32 shared; /* 1: it never had memory of its own */
	__u64 start;  /* of the process */
	__u64 number;
	__s64 most;
	__s64 pages[ZMEM_RSS_COUNT];
	__u64 comm[2];
};

/* What a visit writes. */
struct zmem_peak_visit {
	__s32 pid;
	__u32 target; /* settings.targets: no room */
};

#endif
