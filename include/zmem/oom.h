/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the program on the tracepoint mark_victim hands to user space, through a ring buffer: for
 * each kill a record of the victim and the limits of its cgroup, then at most once in
 * ZMEM_OOM_EPISODE_NS a record of every other process, then an end. A program on the tracepoint
 * signal_generate hands over signals, in the same ring.
 *
 * Other processes are read in this order: those of the cgroup that reached its limit, those that
 * were large in the last snapshot, the rest. Those for which there is no time are listed.
 */
#ifndef ZMEM_OOM_H
#define ZMEM_OOM_H

#include "zmem/record.h"

/* The tracepoint holds a spinlock of the victim: so long other processes are read. */
#define ZMEM_OOM_BUDGET_NS 4000000ULL
/* And so long those that were not read are listed. */
#define ZMEM_OOM_COUNT_NS   1000000ULL
#define ZMEM_OOM_EPISODE_NS 1000000000ULL
/* 5,000 processes; a power of two and of pages. */
#define ZMEM_OOM_RING (1 << 21)
/* Other processes leave so much room in the ring: for 100 victims and their ends. */
#define ZMEM_OOM_KEPT (1 << 18)

/*
 * User space writes pids of large processes into a map, each at its pid modulo
 * ZMEM_OOM_LARGE_SLOTS, which is a power of two. Of them so many are found.
 */
#define ZMEM_OOM_LARGE_SLOTS 4096
#define ZMEM_OOM_LARGE	     512

/* What is read of each kill. oom_setup takes it, and the least pages of a signal, as u64. */
enum zmem_oom_scope {
	ZMEM_OOM_TABLES = 0, /* the victim and, once an episode, all other processes */
	ZMEM_OOM_VICTIMS = 1,
};

enum zmem_oom_what {
	ZMEM_OOM_VICTIM = 1,
	ZMEM_OOM_PROCESS = 2,
	ZMEM_OOM_END = 3,
	ZMEM_OOM_LIMITS = 4,
	ZMEM_OOM_UNREAD = 5,
	ZMEM_OOM_SIGNAL = 6,
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

/* enum oom_constraint (include/linux/oom.h) */
enum zmem_oom_constraint {
	ZMEM_OOM_NONE = 0, /* the machine */
	ZMEM_OOM_CPUSET = 1,
	ZMEM_OOM_MEMORY_POLICY = 2,
	ZMEM_OOM_MEMCG = 3,
};

/* A memory cgroup, in pages. */
struct zmem_oom_level {
	__u64 usage, max;
	__u64 swap_usage, swap_max; /* v1: of memory and swap */
};

#define ZMEM_OOM_NOWHERE (~0U)

/* Why the kernel kills, and the limits of the victim's memory cgroup and of those above it. */
struct zmem_oom_limits {
	struct zmem_oom_head head;
	/*
	 * The call of oom_kill_process() that kills; all victims of memory.oom.group are of one
	 * call. 0: it is not known, and neither are the next three.
	 */
	__u32 call;
	__u32 constraint; /* enum zmem_oom_constraint */
	__s32 order;	  /* of the allocation: 2^order pages. -1: SysRq */
	__u32 at;	  /* the level that reached its limit; ZMEM_OOM_NOWHERE: none of these */
	__u16 v2;
	__u16 group; /* one of them, up to the one that reached its limit, has memory.oom.group */
	__u32 count;
	/* From the victim's own one up to the root. The message ends with the last one. */
	struct zmem_oom_level level[ZMEM_OOM_LEVELS + 1];
};

#define ZMEM_OOM_LIST 64

/* Processes that lived and were not read. */
struct zmem_oom_unread {
	struct zmem_oom_head head;
	__u64 count;
	struct {
		__u64 pid;
		__u64 start_boottime_ns; /* as in a record */
	} process[ZMEM_OOM_LIST];
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
	/* The names of the victim's path, then of the root's, up to the end of the message. */
	__u64 names[2 * ZMEM_OOM_PATH_WORDS];
};

/*
 * Signals that are noted: in a burst, and the time of each further one. Root has as many turns as
 * all others.
 */
#define ZMEM_SIGNALS_BURST 32
#define ZMEM_SIGNAL_NS	   125000000ULL
/* Bytes: those to a process with less anonymous memory and swap are not. */
#define ZMEM_SIGNAL_LEAST (16u << 20)

/* A signal by which a process ends another one. */
struct zmem_oom_signal {
	/* head.kill: signals so far for which there was no turn or no room */
	struct zmem_oom_record receiver;
	struct zmem_record sender; /* kind 0: it is not in the reader's namespace, or ends, too */
	__u64 boottime_ns;
	__u64 cgroup; /* of the receiver: the inode number of its directory; 0: not known */
	__u64 signal; /* SIGKILL; SIGTERM of root without a terminal */
	struct zmem_oom_path path;
	struct zmem_oom_path root; /* as of a kill */
	__u64 names[2 * ZMEM_OOM_PATH_WORDS];
};

/*
 * Signals for which there was no turn are summed, in a map that user space maps: those of a sender
 * to a cgroup in the slot (sender + cgroup) % ZMEM_SIGNALS_OVER, which is a power of two. A slot is
 * that of another sender and cgroup once it was not used for ZMEM_OVER_IDLE_NS. Sums never fall.
 */
#define ZMEM_SIGNALS_OVER 64
#define ZMEM_OVER_IDLE_NS 3000000000ULL

struct zmem_oom_over {
	__u64 cgroup;
	__u32 sender; /* pid, in the reader's namespace; 0: it is not in it */
	__u32 signal;
	__u64 count, pages; /* of receivers: anonymous memory and swap */
	__u64 boottime_ns;  /* of the last one */
};

#endif
