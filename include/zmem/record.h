/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The record of one process that BPF hands to user space.
 *
 * Values are raw kernel units: pages unless the name says bytes. A group of values counts only if
 * its bit is set in `valid`; a member without its bit is 0 and means nothing. All members are
 * naturally aligned, so both sides see the same layout.
 *
 * Other programs may read the pin's records (read.h, zmem-bpf-pin(8)). Within a version:
 *  - A member is never moved, removed or given another meaning, and a bit in `valid` neither.
 *  - A new member is added behind the last one of struct zmem_record, with a bit in `valid`. `size`
 *    grows by multiples of 8, so an old reader skips what it does not know.
 *  - struct zmem_pages does not grow. It is the last sizeof(struct zmem_pages) bytes of a record
 *    with ZMEM_VALID_PAGES, wherever the members before it end.
 *  - A reader reads records from ZMEM_RECORD_FIRST bytes on; members that a record does not have
 *    are 0 and have no bit.
 * All else is a new version. The directory of a pin is named by its version.
 */
#ifndef ZMEM_RECORD_H
#define ZMEM_RECORD_H

#ifndef __bpf__
#include <linux/types.h>
#endif

/* Increment it for changes of setup.h, too: it decides whether a pin can be used. */
#define ZMEM_RECORD_VERSION 3
#define ZMEM_COMM_LEN	    16
#define ZMEM_EXE_LEN	    64 /* longer names are cut; exe_len is the full length */

enum zmem_kind {
	ZMEM_PROCESS = 1, /* a whole struct zmem_record or struct zmem_pss_record */
	ZMEM_KTHREAD = 2, /* only the first ZMEM_RECORD_SHORT bytes: it has no memory */
	ZMEM_ZOMBIE = 3,  /* likewise: exited, not yet reaped, its memory is gone */
};

/* Groups of values, in `valid`. */
enum zmem_valid {
	ZMEM_VALID_RSS = 1 << 0,      /* rss[], rss_delta[] */
	ZMEM_VALID_VM = 1 << 1,	      /* total_vm, locked_vm */
	ZMEM_VALID_PINNED = 1 << 2,   /* pinned_vm */
	ZMEM_VALID_PGTABLE = 1 << 3,  /* pgtables_bytes */
	ZMEM_VALID_HUGETLB = 1 << 4,  /* hugetlb_pages */
	ZMEM_VALID_EXE = 1 << 5,      /* exe, exe_len, ZMEM_EXE_DELETED */
	ZMEM_VALID_CGROUP = 1 << 6,   /* cgroup_key */
	ZMEM_VALID_SHARING = 1 << 7,  /* ZMEM_FORKED, write_protect_seq, ksm_pages */
	ZMEM_VALID_PAGES = 1 << 8,    /* the record is a struct zmem_pss_record */
	ZMEM_VALID_MAPS = 1 << 9,     /* map_count */
	ZMEM_VALID_PEAK = 1 << 10,    /* hiwater_rss */
	ZMEM_VALID_FAULTS = 1 << 11,  /* majflt */
	ZMEM_VALID_SWAPINS = 1 << 12, /* swapins; set with ZMEM_VALID_FAULTS */
	ZMEM_VALID_WAIT = 1 << 13,    /* mem_wait_ns; set with ZMEM_VALID_SWAPINS */
	ZMEM_VALID_LIMIT = 1 << 14,   /* ZMEM_NEAR_LIMIT */
};

enum zmem_flags {
	ZMEM_RACED = 1 << 0,	     /* exec or exit changed the mm three times while it was read */
	ZMEM_LEADER_EXITED = 1 << 1, /* the mm was read from another thread of the process */
	ZMEM_FORKED = 1 << 2,	     /* PF_FORKNOEXEC: no exec since fork */
	ZMEM_CUT_THREADS = 1 << 3,   /* too many threads to walk: rss_delta is not complete */
	ZMEM_IN_FLUX = 1 << 4,	     /* maybe in exec, or unmapping: counts what it does not map */
	ZMEM_EXE_DELETED = 1 << 5,   /* the executable was unlinked or replaced since exec */
	ZMEM_MERGEABLE = 1 << 6, /* until 5.18: KSM may have merged pages; they are not counted */
	/*
	 * Its memory cgroup, or one above it, is charged with seven eighths of its limit or of
	 * memory.high. Only of a process in other cgroups than its parent.
	 */
	ZMEM_NEAR_LIMIT = 1 << 7,
};

/*
 * Until 6.1, in the upper half of the flags: how many users the mm has beside the threads of the
 * process, at most OTHER_USERS_MOST. They may hold back a part of its counters as well.
 */
#define ZMEM_OTHER_USERS_SHIFT	16
#define ZMEM_OTHER_USERS_MOST	0xffff
#define ZMEM_OTHER_USERS(flags) ((flags) >> ZMEM_OTHER_USERS_SHIFT)

/* Indexes of rss[]: the kernel's MM_FILEPAGES … MM_SHMEMPAGES (include/linux/mm_types_task.h). */
enum zmem_rss {
	ZMEM_RSS_FILE,
	ZMEM_RSS_ANON,
	ZMEM_RSS_SWAP,
	ZMEM_RSS_SHMEM,
	ZMEM_RSS_COUNT,
};

/* How a walk of the page tables ended. */
enum zmem_walk {
	ZMEM_WALK_EXCLUSIVE = 1 << 0, /* no anonymous page is shared: none was looked for */
	ZMEM_WALK_UNKNOWN = 1 << 1,   /* met something unknown, or a torn value */
	ZMEM_WALK_MOVED = 1 << 2,     /* raced: another mm, more sharing, or wrong sums */
	ZMEM_WALK_OFF = 1 << 3,	      /* not walked: there is no layout, or no room for a walk */
	/* Set by user space, not in the kernel: */
	ZMEM_WALK_DRIFTED = 1 << 4,  /* counters changed a little between two visits */
	ZMEM_WALK_ACCEPTED = 1 << 5, /* always changing; its error is known and small */
};

/* What a record of a visit to one process begins with (bpf/visit.bpf.h). */
struct zmem_visit {
	__s32 pid;		 /* in the pid namespace of the reader */
	__u32 flags;		 /* enum zmem_walk */
	__u64 start_boottime_ns; /* as in struct zmem_record */
	__u64 cursor;		 /* where the next visit continues; 0: the walk is complete */
};

/* What is known of a process between visits; user space sets the cursor. */
struct zmem_visit_want {
	__u64 cursor;
	__u64 mm; /* set by the first visit */
};

/*
 * The pages of one process that had to be looked at: those of files and of shared memory, and the
 * anonymous ones that other processes may map, too. An anonymous page that is in rss but was not
 * seen is private.
 */
struct zmem_pages {
	/* The counters, read again after the walk, with what the threads hold back. */
	__s64 rss[ZMEM_RSS_COUNT];
	__u64 cursor; /* where the next visit continues, scrambled; 0: the walk is complete */
	/* By enum zmem_rss; [ZMEM_RSS_SWAP] counts swap entries where pages may be shared. */
	__u64 seen[ZMEM_RSS_COUNT];
	/* Bytes, shifted left by ZMEM_PSS_SHIFT as in fs/proc/task_mmu.c; without SWAP. */
	__u64 pss[ZMEM_RSS_COUNT];
	__u64 unique; /* pages seen that no other process maps */
	__u64 huge;   /* pages mapped as part of a huge page, seen or not */
	__u32 flags;  /* enum zmem_walk */
	__u32 work;   /* table entries that this visit looked at; 0 for readers that are not root */
};

#define ZMEM_PSS_SHIFT 12

/* The faults of more threads are not added up: a run of the program takes less than 1 ms. */
#define ZMEM_FAULTS_THREADS 4096

/*
 * A process of ZMEM_LARGE_PAGES pages (mostly 64 MiB) or more rarely stands still during a walk:
 * the pages seen may differ from its resident set by one part in ZMEM_CLOSE_PART.
 */
#define ZMEM_LARGE_PAGES 16384
#define ZMEM_CLOSE_PART	 1024

struct zmem_record {
	__u16 size;		  /* bytes of this record, by its kind */
	__u8 version;		  /* ZMEM_RECORD_VERSION */
	__u8 kind;		  /* enum zmem_kind */
	__u32 valid;		  /* enum zmem_valid */
	__s32 pid;		  /* in the pid namespace of the reader, like all pids */
	__s32 ppid;		  /* 0 if the parent is outside that namespace */
	__u32 uid;		  /* effective, as ps shows */
	__u32 threads;		  /* live and exiting ones */
	__u64 start_boottime_ns;  /* since boot, suspend included; whole ticks, as in /proc */
	char comm[ZMEM_COMM_LEN]; /* of the leader; any bytes but NUL */
	__s32 oom_score_adj;
	__u32 flags; /* enum zmem_flags, ZMEM_OTHER_USERS() */

	/* ZMEM_RECORD_SHORT ends here. */

	__u64 mm_id;		   /* scrambled: same mm, same number; changes with exec */
	__u64 cgroup_key;	   /* scrambled: same css_set, same number */
	__s64 rss[ZMEM_RSS_COUNT]; /* pages; exact on kernels that count per CPU (6.2 and later) */
	__s64 rss_delta[ZMEM_RSS_COUNT]; /* until 6.1: what the threads of this process hold back */
	__u64 total_vm;
	__u64 locked_vm;
	__u64 pinned_vm;
	__u64 pgtables_bytes;
	__u64 hugetlb_pages;	 /* in base pages; never part of rss */
	__u32 write_protect_seq; /* 0: no fork ever copied this mm */
	__u32 exe_len;		 /* true length of the executable's base name */
	__u64 ksm_pages;	 /* pages merged by KSM */
	__u64 map_count;	 /* VMAs */
	__u64 hiwater_rss;	 /* up to the last unmap; rss may be higher by now */
	__u64 majflt;		 /* major faults of all threads, ended ones included */
	char exe[ZMEM_EXE_LEN];	 /* not terminated when it fills the field */
	/*
	 * Folios that its living threads read from swap: swapin_count of struct task_delay_info
	 * (include/linux/delayacct.h). Threads that began before delay accounting was switched on
	 * are not counted.
	 */
	__u64 swapins;
	/*
	 * The time that they lost to reclaim, swap-in, thrashing and compaction, likewise. Waiting
	 * above memory.high is no part of it: the kernel does not account it.
	 */
	__u64 mem_wait_ns;
};

#define ZMEM_RECORD_SHORT __builtin_offsetof(struct zmem_record, mm_id)
/* The size without pages when the version began. */
#define ZMEM_RECORD_FIRST 280

/* With ZMEM_VALID_PAGES, `size` includes `pages`. */
struct zmem_pss_record {
	struct zmem_record record;
	struct zmem_pages pages;
};

#endif
