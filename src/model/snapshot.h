/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A snapshot: all processes of one moment. It is the one owner of process records and of every
 * string they point to; whoever fills or reads them borrows.
 *
 * A value that was not measured is absent (process_has() is false), never 0.
 */
#ifndef ZMEM_SNAPSHOT_H
#define ZMEM_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "model/counter.h"
#include "model/system.h"

enum process_kind {
	PROCESS_USER,
	PROCESS_KTHREAD, /* no memory of its own */
	PROCESS_ZOMBIE,	 /* its memory is gone */
	PROCESS_SUM,	 /* a row that stands for several: a group, or a process and all below it */
};

enum origin {
	FROM_NOWHERE,
	FROM_BPF,
	FROM_PROC,
};

enum pss_source {
	PSS_FROM_NOTHING,
	PSS_FROM_KERNEL,
	PSS_FROM_ROLLUP,
	PSS_FROM_BOTH, /* of a sum */
};

/* Why a process has PSS or has none. */
enum pss_status {
	PSS_SKIPPED, /* not asked for, or cannot reach the first N rows */
	PSS_OK,
	PSS_GONE,    /* ended before it could be read */
	PSS_DENIED,  /* the kernel refuses to show it to us */
	PSS_TIMEOUT, /* the target is stuck and did not let itself be read in time */
	PSS_RACED,   /* exec or exit while it was read, several times */
	PSS_KERNEL_THREAD,
	PSS_UNSUPPORTED, /* this kernel or this /proc cannot tell */
	PSS_STATUS_COUNT,
};

/* "bpf", "proc", NULL. */
const char *origin_name(enum origin origin);
/* "ok", "skipped", …: the words of the JSON contract. */
const char *pss_status_name(enum pss_status status);
/* "kernel", "smaps_rollup", "mixed", NULL. */
const char *pss_source_name(enum pss_source source);

#define UID_NONE ((uid_t)-1) /* nobody's: the kernel refuses it everywhere */

struct delta_row;

struct process {
	pid_t pid;  /* 0: a group, which is none of them */
	pid_t ppid; /* 0 where the parent is outside our pid namespace */
	uid_t uid;  /* effective; UID_NONE of a group that has several */
	uint32_t threads;
	int32_t oom_score_adj;
	uint64_t start_ns; /* since boot (CLOCK_BOOTTIME); whole ticks if it comes from /proc */
	uint64_t mm_key;   /* as the source gave it, 0 if it could not tell */
	/* 1…, by the lowest pid: the same for processes that share an address space; 0 unknown. */
	uint32_t mm_id;
	bool mm_owner;	      /* the one of them that carries it in totals */
	uint32_t procs;	      /* of a sum: how many */
	uint32_t pss_missing; /* and how many of them have memory and no PSS */
	enum process_kind kind;
	bool raced;	    /* the kernel side could not read it */
	bool leader_exited; /* its memory is seen through another of its threads */
	bool starting;	    /* a program: arguments that it does not map count as its memory */
	bool pages_unknown; /* the kernel side met pages it does not understand */
	bool forked;	    /* not exec'ed since fork */
	bool sharing_known; /* forked, write_protect_seq and ksm_pages mean something */
	uint32_t write_protect_seq;
	uint64_t ksm_pages;
	uint64_t cgroup_key; /* the same for processes with the same cgroups; 0 unknown */
	int32_t rss_delta[4];
	enum origin counters_source;
	enum pss_source pss_source;
	enum pss_status pss_status;
	counter_mask have;
	uint64_t value[COUNTER_COUNT]; /* bytes; only where `have` has the bit */

	char comm[16];	       /* terminated; any bytes */
	bool name_cut;	       /* name is the beginning of a longer one */
	const char *name;      /* program; any bytes */
	const char *user;      /* NULL until enriched */
	const char *cgroup;    /* likewise, NULL if unknown */
	const char *unit;      /* likewise */
	const char *container; /* likewise */
	/* How many bytes of the cgroup's path lead to its unit and to its container; 0: all. */
	uint16_t unit_path, container_path;
	bool controlled;     /* the path is one of the memory controller's hierarchy */
	int64_t names_ms;    /* when names were read that were kept since; 0: now */
	bool program_known;  /* the name is the program's, not only the executable's */
	const char *cmdline; /* arguments joined by spaces, NULL if not asked for or not readable */
	bool cmdline_truncated; /* there was more of it */

	const struct delta_row *before; /* what it was (zmem/change.h); NULL: nobody knows */
	bool changed;			/* since the last tick */
	uint64_t print;			/* of all that it says, values and names */

	uint64_t rank; /* of who puts rows in order, while he does */
};

static inline bool process_has(const struct process *p, enum counter c)
{
	return p->have & COUNTER_BIT(c);
}

/* Where the PSS of several comes from. */
static inline enum pss_source pss_source_join(enum pss_source a, enum pss_source b)
{
	if (a == b || b == PSS_FROM_NOTHING)
		return a;
	return a == PSS_FROM_NOTHING ? b : PSS_FROM_BOTH;
}

static inline void process_set(struct process *p, enum counter c, uint64_t bytes)
{
	p->value[c] = bytes;
	p->have |= COUNTER_BIT(c);
}

/* How many processes a row stands for. */
static inline size_t process_count(const struct process *p)
{
	return p->kind == PROCESS_SUM ? p->procs : 1;
}

/* Sets the sum, or nothing if it is larger than can be. */
static inline void process_set_sum(struct process *p, enum counter c, uint64_t x, uint64_t y,
				   uint64_t z)
{
	uint64_t sum;

	if (!__builtin_add_overflow(x, y, &sum) && !__builtin_add_overflow(sum, z, &sum))
		process_set(p, c, sum);
}

/*
 * Why a process has swap_pss or has none: as PSS, but where others may share its swap entries the
 * kernel's page tables do not tell how many (unsupported).
 */
enum pss_status process_swap_pss_status(const struct process *p);

/* Recomputes rss, pss_swap and shared from what they are made of. */
void process_derive(struct process *p);

#define ZRAM_MAX 16

struct zram_device {
	char name[16];
	struct zram_stat stat;
};

#define SWAP_MAX 32 /* the kernel has fewer (MAX_SWAPFILES) */

/* Values of the machine. */
struct system_info {
	struct meminfo meminfo;
	bool swaps_known; /* false: /proc/swaps was not read */
	struct swap_device swap[SWAP_MAX];
	size_t swap_count;
	struct zram_device zram[ZRAM_MAX];
	size_t zram_count;
};

struct host_info {
	char name[65];
	char boot_id[37];
	char kernel_release[65];
	char arch[65];
	uint32_t page_size;
	uint32_t cpus;	  /* online */
	uint64_t boot_ms; /* when the machine booted, ms since the epoch */
};

/* What smaps_rollup says of Rss and Swap against the kernel's counters of the same process. */
struct cross_check {
	uint32_t checked;
	uint32_t same;
	uint32_t moved;	    /* the process changed while it was read */
	uint32_t different; /* it did not, and they still disagree */
	uint32_t gone;	    /* ended before they could be compared again */
	bool done;	    /* false: there was nothing to compare with */
};

struct collection {
	uint64_t duration_us; /* until the rows were complete */
	uint32_t seen;	      /* all, kernel threads and zombies included */
	uint32_t reported;
	uint32_t filtered; /* did not pass the filters */
	uint32_t kernel_threads;
	uint32_t zombies;
	uint32_t gone;
	uint32_t denied;
	uint32_t timeout;
	uint32_t raced;
	uint32_t shared_mm;	/* processes whose address space another one carries */
	bool shared_mm_unknown; /* it is not measured: /proc did not tell of some (ptrace) */
	bool hidden;		/* there are processes that /proc shows nothing of (hidepid) */
	bool complete;		/* nothing is missing but kernel threads and the gone */
	struct cross_check cross_check;
};

/* What the kernel accounts to a memory cgroup, bytes. */
struct memcg {
	const char *path;
	bool current_known, limit_known;
	uint64_t current;
	uint64_t limit; /* the lowest of its own and its ancestors' */
};

/* Whether the values of all processes add up to those of the machine, bytes. */
struct machine_balance {
	/* Swap in use that no process's SwapPss accounts for. */
	bool swap_unattributed_known;
	uint64_t swap_unattributed;
	/*
	 * AnonPages less all Pss_Anon, Mapped less all Pss_File and Pss_Shmem. Not 0 where a
	 * process is hidden from us, and for what moved meanwhile. Unknown unless every process has
	 * its PSS.
	 */
	bool residual_known;
	int64_t anon_residual;
	int64_t mapped_residual;
};

struct snapshot {
	int64_t time_ms;    /* since the epoch */
	uint64_t change_us; /* changes are told per second of so many; 0: as they are */
	struct host_info host;
	struct system_info system;
	enum origin counters_source;
	bool pinned;			 /* from the pin (zmem/pin.h) */
	const char *fallback_reason;	 /* NULL: the first choice worked */
	const char *pss_fallback_reason; /* likewise for PSS: from the kernel */
	struct collection collection;
	struct machine_balance balance;
	struct memcg *memcg; /* of its arena, sorted by path; NULL: not read */
	size_t memcg_count;
	struct process *process;
	size_t count;
	size_t capacity;
	unsigned idle;	      /* how often in a row far fewer were needed (base/grow.h) */
	struct arena arena;   /* strings */
	struct arena scratch; /* what is of use for one call, which marks and releases it */
};

/* Frees all it owns and leaves it empty, which zeroed memory is, too. */
void snapshot_done(struct snapshot *s);
/*
 * Forgets the processes and keeps the memory for the next collection, but not for ever that of many
 * more.
 */
void snapshot_clear(struct snapshot *s);

/*
 * Appends a zeroed process. Returns NULL without memory. Pointers to processes are valid until the
 * next call: collect all, then point.
 */
struct process *snapshot_add(struct snapshot *s);

/*
 * To be called once all processes are there: numbers the address spaces (mm_id), adds the
 * per-thread deltas of all that share one, counts kernel threads and zombies, derives sums. Returns
 * -ENOMEM or 0.
 */
int snapshot_finish(struct snapshot *s);

/* The process with that pid, NULL if there is none; of processes that are in order of pid. */
struct process *snapshot_find(const struct snapshot *s, pid_t pid);

/* The same process, that is with its start time as well. NULL if it is not there any more, or yet.
 */
struct process *snapshot_find_again(const struct snapshot *s, const struct process *p);

/* The memory cgroup with that path, NULL if it was not read. */
const struct memcg *snapshot_find_memcg(const struct snapshot *s, const char *path);

/*
 * Among `rows`, names the process that carries each address space (mm_owner): the one that started
 * first. Returns 0 or -ENOMEM.
 */
int snapshot_own_mm(struct snapshot *s, struct process *const *rows, size_t count);

#endif
