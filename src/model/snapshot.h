/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A snapshot: all processes at one moment. It owns the processes and every string they point to;
 * other code borrows them.
 *
 * A value that was not measured is absent (process_has() is false), never 0.
 */
#ifndef ZMEM_MODEL_SNAPSHOT_H
#define ZMEM_MODEL_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "base/arena.h"
#include "model/descriptors.h"
#include "model/ended.h"
#include "model/gpu.h"
#include "model/system.h"

/* ---- counters: counters.def as an enum and a table ---- */

enum counter {
#define ZMEM_COUNTER(id, ...) COUNTER_##id,
#include "model/counters.def"
#undef ZMEM_COUNTER
	COUNTER_COUNT,
};

/* The number of counters of a process; those behind belong to a cgroup. */
#define COUNTERS_OF_PROCESS ((int)COUNTER_MEM_CURRENT)
#define COUNTERS_OF_CGROUP  ((int)COUNTER_COUNT - COUNTERS_OF_PROCESS)

/* Beside them: PSS by node, which is no counter. */
#define COUNTER_NODES ((int)COUNTER_COUNT)

/* A set of counters of a process, and of that; those of a cgroup have no bit in it. */
typedef uint64_t counter_mask;
#define COUNTER_BIT(c)                                                                             \
	((int)(c) < COUNTERS_OF_PROCESS ? (counter_mask)1 << (c)                                   \
	 : (int)(c) == COUNTER_NODES	? (counter_mask)1 << 63                                    \
					: 0)

/* All those of a process. */
#define COUNTER_BITS (((counter_mask)1 << COUNTERS_OF_PROCESS) - 1)

_Static_assert(COUNTERS_OF_PROCESS <= 63, "counter_mask is too small");

/* See counters.def. */
enum counter_unit {
	UNIT_BYTES,
	UNIT_AMOUNT,
	UNIT_COUNT,
	UNIT_US,
	UNIT_PERCENT,
};

enum counter_origin {
	ORIGIN_KERNEL,
	ORIGIN_ROLLUP,
	ORIGIN_DERIVED,
	ORIGIN_MEMCG,
};

enum compare_policy {
	POLICY_NONE,
	POLICY_STATUS,
	POLICY_PER_CPU,
	POLICY_ROLLUP,
	POLICY_SHARE,
};

#define NOT_STORED 0xff

struct counter_info {
	const char *key; /* "rss_anon" */
	const char *header;
	enum counter_unit unit;
	enum counter_origin origin;
	counter_mask bound; /* counters that add up to its upper bound; 0: none */
	enum compare_policy policy;
	uint8_t number; /* in recordings; NOT_STORED */
};

extern const struct counter_info counter_table[COUNTER_COUNT];

#define RSS_COUNTERS 4 /* enum zmem_rss (zmem/record.h) */
/* The counter of each. */
extern const enum counter rss_counter[RSS_COUNTERS];

/* ---- processes ---- */

/* Nodes that are told apart, from 0 on. */
#define NODES_MAX 16

/* PSS by NUMA node, of the nodes with RAM in their order. */
struct node_shares {
	uint32_t count;
	struct node_share {
		uint32_t node;
		uint64_t pss; /* bytes */
	} node[NODES_MAX];
};

/* Adds shares of the same snapshot. NULL: none. */
void node_shares_add(struct node_shares *to, const struct node_shares *more);

/* Their enums take one byte each: a snapshot has thousands of processes. */
#define ONE_BYTE __attribute__((packed))

enum process_kind {
	PROCESS_USER = 0,
	PROCESS_KTHREAD = 1, /* a kernel thread: no memory of its own */
	PROCESS_ZOMBIE = 2,  /* exited: its memory is gone */
	PROCESS_SUM,	     /* a group, or a process with all its descendants */
} ONE_BYTE;

/* The executable of a process. */
enum exe_state {
	EXE_UNKNOWN = 0,
	EXE_PRESENT = 1,
	EXE_DELETED = 2, /* it was unlinked or replaced since the process started */
} ONE_BYTE;

enum origin {
	FROM_NOWHERE = 0,
	FROM_BPF = 1,
	FROM_PROC = 2,
	FROM_EARLIER = 3, /* the snapshot before, of what was not read at an OOM kill */
} ONE_BYTE;

enum pss_source {
	PSS_FROM_NOTHING = 0,
	PSS_FROM_KERNEL = 1,
	PSS_FROM_ROLLUP = 2,
	PSS_FROM_BOTH = 3, /* only for a sum */
} ONE_BYTE;

/* The status of the PSS of a process. */
enum pss_status {
	PSS_SKIPPED = 0, /* not requested, or it cannot reach the first N rows */
	PSS_OK = 1,
	PSS_GONE = 2,	 /* the process ended before it was read */
	PSS_DENIED = 3,	 /* the kernel denies access */
	PSS_TIMEOUT = 4, /* the process is stuck and could not be read in time */
	PSS_RACED = 5,	 /* exec or exit during each of several reads */
	PSS_KERNEL_THREAD = 6,
	PSS_UNSUPPORTED = 7, /* this kernel or this /proc does not provide it */
	PSS_REFERENCED = 8,  /* of FREED alone: something that is not visible holds a file */
	PSS_STATUS_COUNT,
} ONE_BYTE;

/* Values that a process may lack, each for a reason of its own. PSS has pss_status. */
enum value_kind {
	VALUE_SWAP_PSS,
	VALUE_SWAP_SHMEM,
	VALUE_SWAP_RAM, /* and its parts */
	VALUE_FREED,
	VALUE_LAZYFREE,
	VALUE_HUGETLB_PSS,
	VALUE_THP_REST,
	VALUE_NODES,
	VALUE_GPU,
	VALUE_DMABUF,
	VALUE_KERNEL,
	VALUE_MAPS,
	VALUE_SWAPINS,
	VALUE_MEM_WAIT,
	VALUE_EXE, /* exe_state */
	VALUE_KINDS,
};

/* "bpf", "proc", "earlier", NULL. */
const char *origin_name(enum origin origin);
/* "ok", "skipped", …: the words in JSON. */
const char *pss_status_name(enum pss_status status);
/* "kernel", "smaps_rollup", "mixed", NULL. */
const char *pss_source_name(enum pss_source source);

/* Whether the name of a container was found. */
enum container_status {
	CONTAINER_NONE = 0,   /* no container, or one that its cgroup names */
	CONTAINER_UNREAD = 1, /* not looked for yet */
	CONTAINER_NAMED = 2,
	CONTAINER_UNNAMED = 3, /* no file of an engine or of the kubelet has its id */
	CONTAINER_DENIED = 4,  /* a file that may have its name could not be read */
	CONTAINER_INVALID = 5, /* a file with its name is damaged, or two files differ */
	CONTAINER_LARGE = 6,   /* a file that may have its name is too large */
	CONTAINER_TIMEOUT = 7, /* a file that may have its name did not answer in time */
	CONTAINER_STATUS_COUNT,
} ONE_BYTE;

/* "ok", "unnamed", …: the words in JSON. NULL: not a container with an id. */
const char *container_status_name(enum container_status status);

#define UID_NONE ((uid_t)-1) /* no user has it: the kernel refuses it everywhere */

#define PID_MAX	 (4 * 1024 * 1024) /* PID_MAX_LIMIT, include/linux/threads.h */

/* The counters of a cgroup: those from COUNTERS_OF_PROCESS on. */
struct charges {
	uint64_t have; /* bit i: value[i] is known */
	uint64_t value[COUNTERS_OF_CGROUP];
};

#define CHARGE_BIT(c) (UINT64_C(1) << ((int)(c)-COUNTERS_OF_PROCESS))
_Static_assert(COUNTERS_OF_CGROUP <= 64, "struct charges is too small");

/* NULL has none. */
static inline bool charges_have(const struct charges *charged, enum counter c)
{
	return charged && charged->have & CHARGE_BIT(c);
}

/* Valid if it is known. */
static inline uint64_t charge_value(const struct charges *charged, enum counter c)
{
	return charged->value[(int)c - COUNTERS_OF_PROCESS];
}

/* What is small is beside each other, so that there are no gaps. */
struct process {
	pid_t pid;  /* 0: a group */
	pid_t ppid; /* 0 if the parent is outside our pid namespace */
	uid_t uid;  /* effective; UID_NONE for a group with several */
	uint32_t threads;
	int32_t oom_score_adj;
	/* 1…, by the lowest pid: processes that share an mm have the same; 0 unknown. */
	uint32_t mm_id;
	uint64_t start_ns;   /* since boot (CLOCK_BOOTTIME); whole ticks if it comes from /proc */
	uint64_t mm_key;     /* from the source, 0 if unknown */
	uint64_t cgroup_key; /* equal for processes with the same cgroups; 0 unknown */
	uint64_t ksm_pages;
	uint32_t write_protect_seq;
	uint32_t other_users; /* until 6.1: of its mm, which hold back a part of its counters */
	int32_t rss_delta[RSS_COUNTERS];
	enum process_kind kind;
	enum origin counters_source;
	enum pss_source pss_source;
	enum pss_status pss_status;
	/* Why a value is not known, where a part of the program knows that (process_status()). */
	enum pss_status status[VALUE_KINDS];
	enum exe_state exe;
	bool mm_owner;		/* this process counts the mm in totals */
	bool raced;		/* BPF could not read it */
	bool forked;		/* no exec since fork */
	bool name_cut;		/* name is the beginning of a longer one */
	bool cmdline_truncated; /* there were more arguments */
	bool leader_exited : 1; /* its memory was read through another thread */
	bool limit_known : 1;	/* near_limit is valid */
	bool near_limit : 1;	/* its memory cgroup or one above is near its limit */
	bool in_flux : 1;	/* maybe in exec, or unmapping: it may count what it does not map */
	bool pages_unknown : 1; /* BPF found pages that it does not understand */
	bool swap_slots : 1;	/* its SWAP_PSS comes from swap slots */
	bool sharing_known : 1; /* forked, write_protect_seq and ksm_pages are valid */
	bool program_known : 1; /* the name is the program, not only the executable */
	counter_mask have;
	uint64_t value[COUNTERS_OF_PROCESS]; /* bytes or numbers; valid if `have` has the bit */
	struct charges *charged; /* of a group: the counters of its cgroup; NULL: no room */
	const struct node_shares
		*nodes; /* NULL: not measured; else with the bit of COUNTER_NODES */
	const struct kernel_shares *kernel; /* the parts of COUNTER_KERNEL; NULL: not measured */

	char comm[16];	      /* terminated; any bytes */
	const char *name;     /* program; any bytes */
	const char *exe_name; /* the executable's, where `name` is another one; else NULL */
	const char *app;      /* what people call it; NULL: not looked for */
	const char *cmdline; /* arguments joined by spaces, NULL if not requested or not readable */
	const char *user;    /* NULL until enriched */
	const char *cgroup;  /* likewise, NULL if unknown */
	/* Likewise: "ssh.service"; of the manager of a user "ssh.service (user 1000)". */
	const char *unit;
	/*
	 * Likewise: "web"; "prod/web-0/app" in a pod; "job_123/step_0"; else the beginning of its
	 * id; all but pods of Kubernetes with their user, as in "web (user 1000)".
	 */
	const char *container;
	const char *container_id; /* 64 hexadecimal digits; NULL: none */
	const char *pod;	  /* "prod/web-0", else its uid; "job_123" */
	const char *namespace;	  /* the namespace of the pod: "prod" */
	const char *joined;	  /* of a group by several columns: "web / nginx" */
	int64_t names_ms;	  /* when reused names were read; 0: now */
	/* The length of the part of the cgroup path that ends at the unit or container; 0: all. */
	uint16_t unit_path, container_path;
	uint16_t pod_path; /* likewise at the pod; 0: none */
	/* Likewise at the cgroup above that has its memory counters; 0: they are its own. */
	uint16_t memcg_above;
	enum container_status container_status;
	/* Bits of the NUMA nodes with a CPU that a thread may run on; 0: not read. */
	uint16_t cpu_nodes;
	bool controlled; /* the path is in the hierarchy of memcgs */
	/* Of a group: its processes have so many of its keys in common; 0: all of them. */
	uint8_t group_keys;
};

/* A counter of it, or of its cgroup. */
static inline bool process_has(const struct process *p, enum counter c)
{
	return (int)c < COUNTERS_OF_PROCESS || (int)c == COUNTER_NODES
		       ? p->have & COUNTER_BIT(c)
		       : charges_have(p->charged, c);
}

/* The source of PSS of a sum. */
static inline enum pss_source pss_source_join(enum pss_source a, enum pss_source b)
{
	if (a == b || b == PSS_FROM_NOTHING)
		return a;
	return a == PSS_FROM_NOTHING ? b : PSS_FROM_BOTH;
}

/* Valid if the process has it. */
static inline uint64_t process_value(const struct process *p, enum counter c)
{
	return (int)c < COUNTERS_OF_PROCESS ? p->value[c] : charge_value(p->charged, c);
}

/* A counter of a cgroup needs `charged`. */
static inline void process_set(struct process *p, enum counter c, uint64_t bytes)
{
	if ((int)c < COUNTERS_OF_PROCESS) {
		p->value[c] = bytes;
		p->have |= COUNTER_BIT(c);
	} else {
		p->charged->value[(int)c - COUNTERS_OF_PROCESS] = bytes;
		p->charged->have |= CHARGE_BIT(c);
	}
}

/* A name without those before it: "app" of "prod/web-0/app". NULL of NULL. */
static inline const char *name_of_pod_part(const char *name)
{
	const char *slash = name ? strrchr(name, '/') : NULL;

	return slash ? slash + 1 : name;
}

/* Sets the sum, or nothing if it overflows. */
static inline void process_set_sum(struct process *p, enum counter c, uint64_t x, uint64_t y,
				   uint64_t z)
{
	uint64_t sum;

	if (!__builtin_add_overflow(x, y, &sum) && !__builtin_add_overflow(sum, z, &sum))
		process_set(p, c, sum);
}

/*
 * PSS_OK if the process has this value, else why not. Of a sum: PSS_OK if all its processes have
 * it, else the reason of one of them.
 */
enum pss_status process_status(const struct process *p, enum value_kind value);
/* The status of a counter: its own, or that of PSS. */
enum pss_status process_counter_status(const struct process *p, enum counter c);

/* Where the pages of swap entries are, in bytes; shared ones divided. */
struct swap_costs {
	uint64_t zram, zswap;	 /* what they take in RAM */
	uint64_t incompressible; /* the part of both of pages that are held as they are */
	uint64_t filled, disk;	 /* the size of pages */
};

#define COUNTERS_OF_SWAP_COSTS                                                                     \
	(COUNTER_BIT(COUNTER_SWAP_RAM) | COUNTER_BIT(COUNTER_SWAP_RAM_ZRAM) |                      \
	 COUNTER_BIT(COUNTER_SWAP_RAM_ZSWAP) | COUNTER_BIT(COUNTER_SWAP_INCOMPRESSIBLE) |          \
	 COUNTER_BIT(COUNTER_SWAP_FILLED) | COUNTER_BIT(COUNTER_SWAP_DISK))

/* Only on request (collect/gpu_read.h). */
#define COUNTERS_OF_GPU (COUNTER_BIT(COUNTER_GPU) | COUNTER_BIT(COUNTER_DMABUF))

void process_set_swap_costs(struct process *p, const struct swap_costs *costs);

/* The values that bpf/pages.bpf.c counts: they are read on request. */
#define COUNTERS_OF_PAGES                                                                          \
	(COUNTER_BIT(COUNTER_LAZYFREE) | COUNTER_BIT(COUNTER_HUGETLB_PSS) |                        \
	 COUNTER_BIT(COUNTER_THP_REST))

/* Copies the cgroup and all names that follow from it; the texts are borrowed. */
void process_copy_cgroup(struct process *p, const struct process *known);

/* Recomputes rss, pss_swap and shared from their parts, and raises peak to rss. */
void process_derive(struct process *p);

/*
 * Rounds PSS, its parts and swap_pss to PSS_ROUNDED_TO bytes. PSS is then the sum of its parts, and
 * still at least USS, which is whole pages. An exec moves PSS of all that map the same files by
 * some bytes: rounded, it mostly stays the same.
 */
#define PSS_ROUNDED_TO 4096
void process_round_pss(struct process *p);

/* ---- the machine ---- */

#define ZRAM_MAX 16

struct zram_device {
	char name[16];
	struct zram_stat stat;
	uint64_t size; /* of the disk that it is, bytes; 0: not known */
};

#define SWAP_MAX 32 /* the kernel allows fewer (MAX_SWAPFILES) */

/* The largest files of shared memory and tmpfs, as parts of the limits that they count for. */
#define SHARED_FILES_MAX 16
#define SHARED_NAME_MAX	 160 /* bytes; a longer one lacks its beginning */

struct shared_file {
	const char *name; /* file_label() */
	/* The memory cgroup of its last page in RAM; NULL: not known, or it has none. */
	const char *cgroup;
	enum file_kind kind;
	uint64_t resident, swapped; /* bytes */
};

struct shared_files {
	int64_t taken_ms; /* since the epoch */
	uint32_t count;
	struct shared_file file[SHARED_FILES_MAX];
};

/* The NUMA nodes with RAM, while they matter: swap is in use and there are several. Bytes. */
struct machine_nodes {
	uint32_t count; /* 0: not read */
	struct node_memory {
		uint32_t node;
		uint64_t total, free;
		uint64_t high; /* with less free the kernel reclaims */
	} node[NODES_MAX];
};

/* What counts the time that processes wait for memory, and what they read from swap. */
enum waits_source {
	WAITS_UNKNOWN,
	WAITS_ACCOUNTED, /* the kernel's delay accounting, since they started */
	WAITS_WATCHED,	 /* programs in the kernel, since the first snapshot of a series */
};

/* "delay_accounting", "watched", or NULL. */
const char *waits_source_name(enum waits_source waits);

/* Values of the whole machine. */
struct ram;

struct system_info {
	struct meminfo meminfo;
	struct free_memory free;
	struct partly_mapped partly_mapped;
	bool swaps_known; /* false: /proc/swaps was not read */
	struct swap_device swap[SWAP_MAX];
	size_t swap_count;
	struct zram_device zram[ZRAM_MAX];
	size_t zram_count;
	struct memory_pressure pressure;
	struct swap_activity swapped;
	struct oom_kills oom_kills;
	struct machine_totals totals; /* not recorded */
	struct machine_rates rates;
	struct recent_kills recent_kills; /* likewise */
	struct socket_memory sockets;
	struct tmpfs_use tmpfs; /* likewise; read where much shared memory is in no page table */
	/* Where they may matter: much of RAM is in slabs, in huge pages, or was promised. */
	struct dentries dentries;
	bool hugetlb_unused_known;
	uint64_t hugetlb_unused; /* huge pages that nothing uses, and that are not reserved */
	bool overcommit_strict;	 /* vm.overcommit_memory is 2 */
	uint64_t max_map_count;	 /* vm.max_map_count; 0: unknown */
	/* kernel.task_delayacct: whether swap-ins of processes are counted. */
	bool delay_accounting, delay_accounting_known;
	enum waits_source waits;
	struct machine_nodes nodes;
	struct machine_files files;
	struct swap_cache swap_cache;
	const struct ram *ram; /* borrowed from the collector; NULL: not asked for */
	/* Likewise; NULL: they were not listed. */
	const struct shared_files *shared;
	/* Likewise; NULL: their peaks were not kept, as in a snapshot alone. */
	const struct ended_processes *ended;
};

/* Some task waited for memory in one percent of the last ten seconds or more. */
static inline bool system_waits(const struct system_info *system)
{
	return system->pressure.known && system->pressure.some_avg10 >= 100;
}

struct host_info {
	char name[65];
	char boot_id[37];
	char kernel_release[65];
	char arch[65];
	uint32_t page_size;
	uint32_t cpus;	  /* online */
	uint64_t boot_ms; /* when the machine booted, ms since the epoch */
};

/* Compares Rss and Swap of smaps_rollup with the kernel counters of the same process. */
struct cross_check {
	uint32_t checked;
	uint32_t same;
	uint32_t moved;	    /* the process changed during the comparison */
	uint32_t different; /* it did not change, but the values differ */
	uint32_t gone;	    /* ended before the second comparison */
	bool done;	    /* false: there was nothing to compare */
	/* Why other processes were not checked, if all were to be checked. */
	bool all;
	uint32_t ended;	 /* before the first comparison */
	uint32_t denied; /* smaps_rollup may not be read */
	uint32_t unread; /* stuck, or without PSS */
	uint32_t self;	 /* the process that collected: its values always change */
	/* In a series not each snapshot is compared: how many snapshots ago this was. */
	uint32_t snapshots_ago;
};

#define NOT_SEEN_PIDS 5

/* Deeper cgroups are not read. */
#define MEMCG_DEPTH_MAX 64

/*
 * Why memory cgroups are left out (enrich/memcg.c). A group then has the values of the nearest one
 * above its own that was read.
 */
enum memcg_bound {
	MEMCG_BOUND_DEPTH,
	MEMCG_BOUND_BYTES, /* of all paths and values */
	MEMCG_BOUND_TIME,
	MEMCG_BOUNDS,
};

/* "depth", "bytes", "time": the words in JSON and in metrics. */
const char *memcg_bound_name(enum memcg_bound bound);
/* The length of the first `levels` components of a path, or of the whole path. */
size_t memcg_reach(const char *path, unsigned levels);

struct collection {
	uint64_t duration_us; /* until the rows were complete */
	uint32_t seen;	      /* all processes, kernel threads and zombies included */
	uint32_t reported;
	uint32_t filtered; /* excluded by the filters */
	uint32_t kernel_threads;
	uint32_t zombies;
	uint32_t gone;
	uint32_t denied;
	uint32_t timeout;
	uint32_t raced;
	uint32_t shared_mm;	/* processes that share the mm of another one, its owner */
	bool shared_mm_unknown; /* not known: /proc did not tell for some (ptrace) */
	/* Processes that /proc shows and BPF does not; at an OOM kill, those that were not read. */
	uint32_t not_seen;
	/* The first of them, 0 behind the last; none in old recordings. */
	pid_t not_seen_pid[NOT_SEEN_PIDS];
	bool not_seen_known; /* false: they were not compared */
	uint32_t earlier;    /* at an OOM kill: processes with the values of the snapshot before */
	bool hidden;	     /* /proc hides some processes (hidepid) */
	bool complete;	     /* only kernel threads and ended processes are missing */
	struct cross_check cross_check;
	/* Cgroups with processes, of which the memory counters were to be read and were not, by
	 * reason. */
	uint32_t cgroups_left_out[MEMCG_BOUNDS];
	/* Deleted cgroups that the kernel still keeps, if memcgs were read (v2 only). */
	uint64_t cgroups_dying;
};

/* How many of the processes that were not seen have their pid there. */
static inline uint32_t collection_pids(const struct collection *c)
{
	uint32_t count = 0;

	while (count < NOT_SEEN_PIDS && c->not_seen_pid[count])
		count++;
	return count;
}

/* What the kernel charges to a memcg, bytes. */
#define MEMCG_DETAILS ((int)COUNTER_COUNT - (int)COUNTER_MEM_HIGH)

struct memcg {
	const char *path;
	bool current_known, limit_known;
	uint64_t current;
	uint64_t limit; /* the lowest of its limit and those of its ancestors */
	/* How often since it was made, also in cgroups below it (memory.events). v1 has no `oom`
	 * and `high`. */
	bool high_known, max_known, oom_known, oom_kills_known;
	uint64_t high;	    /* memory.high was exceeded */
	uint64_t max;	    /* the limit was reached */
	uint64_t oom;	    /* and an allocation was about to fail */
	uint64_t oom_kills; /* processes that were killed */
	/* The counters from COUNTER_MEM_HIGH on; bit i of `details`: detail[i] is known. */
	uint64_t details;
	uint64_t detail[MEMCG_DETAILS];
	uint64_t read_us; /* when, CLOCK_MONOTONIC; not recorded */
};

static inline bool memcg_has(const struct memcg *m, enum counter c)
{
	return m->details & UINT64_C(1) << (c - COUNTER_MEM_HIGH);
}

static inline uint64_t memcg_detail(const struct memcg *m, enum counter c)
{
	return m->detail[c - COUNTER_MEM_HIGH];
}

static inline void memcg_set_detail(struct memcg *m, enum counter c, uint64_t value)
{
	m->details |= UINT64_C(1) << (c - COUNTER_MEM_HIGH);
	m->detail[c - COUNTER_MEM_HIGH] = value;
}

/* Whether any cgroup was left out. */
static inline bool memcgs_left_out(const struct collection *c)
{
	uint32_t any = 0;

	for (int b = 0; b < MEMCG_BOUNDS; b++)
		any |= c->cgroups_left_out[b];
	return any;
}

/* How the values of all processes reconcile with those of the machine, bytes. */
struct machine_balance {
	/* Swap in use that is in no SwapPss of a process. */
	bool swap_unattributed_known;
	uint64_t swap_unattributed;
	/* Shmem less all Pss_Shmem: pages that are in no page table of a process. */
	bool shmem_not_in_pss_known;
	uint64_t shmem_not_in_pss;
	/*
	 * AnonPages less all Pss_Anon, Mapped less all Pss_File and Pss_Shmem. Not 0 if a process
	 * is hidden from us, or if values changed meanwhile. Unknown unless every process has its
	 * PSS.
	 */
	bool residual_known;
	int64_t anon_residual;
	int64_t mapped_residual;
};

/* ---- snapshots ---- */

struct snapshot {
	int64_t time_ms;    /* since the epoch */
	uint64_t change_us; /* changes are per second over this time; 0: absolute */
	struct host_info host;
	struct system_info system;
	enum origin counters_source;
	bool pinned;			 /* read from the pin (source/pin.h) */
	const char *fallback_reason;	 /* NULL: the preferred source worked */
	const char *pss_fallback_reason; /* likewise for PSS from the kernel */
	bool recorded;			 /* it was read from a recording */
	pid_t self;			 /* the process that collected; 0: unknown */
	const char *selection;		 /* the filters of its recording; NULL: all processes */
	struct collection collection;
	/* The most table entries that a run of the BPF program looked at and did not finish. */
	uint32_t walk_entries;
	uint32_t threads_begun; /* that read it, in the process `self`; they have ended */
	struct machine_balance balance;
	struct gpu_parts gpu;	   /* in the arena */
	struct kernel_held kernel; /* likewise */
	struct memcg *memcg;	   /* in the arena, sorted by path; NULL: not read */
	size_t memcg_count;
	struct process *process;
	size_t count;
	size_t capacity;
	unsigned idle;	      /* how often in a row it was mostly unused (base/array.h) */
	struct arena arena;   /* strings */
	struct arena scratch; /* memory for one call, which marks and releases it */
};

/* Frees everything and leaves an empty snapshot, like zeroed memory. */
void snapshot_done(struct snapshot *s);
/*
 * Removes the processes and keeps the memory for the next collection; the memory of a peak is freed
 * later.
 */
void snapshot_clear(struct snapshot *s);

/*
 * Appends a zeroed process. Returns NULL without memory. Pointers to processes are valid until the
 * next call.
 */
struct process *snapshot_add(struct snapshot *s);

/*
 * Call it when all processes are added: sets mm_id and the owners, adds the per-thread deltas of
 * all processes that share an mm, counts kernel threads and zombies, derives counters. Returns
 * -ENOMEM or 0.
 */
int snapshot_finish(struct snapshot *s);

/* Whether it is the moment of an OOM kill, which takes no time to collect. */
static inline bool snapshot_is_kill(const struct snapshot *s)
{
	return s->collection.seen && !s->collection.duration_us;
}

/* Whether not all processes were read at it: one that it lacks may have been there. */
static inline bool snapshot_is_cut(const struct snapshot *s)
{
	return snapshot_is_kill(s) && !s->collection.complete;
}

/*
 * Forgets what cgroups are charged: at an OOM kill it is read when the victim is freed already. Its
 * limits and its events stay.
 */
void snapshot_forget_charges(struct snapshot *s);
#define NO_CHARGE_AT_KILL "at an OOM kill it can only be read when the victim is freed already"

/* Finds the process with that pid, NULL if there is none. Processes must be in order of pid. */
struct process *snapshot_find(const struct snapshot *s, pid_t pid);

/* Finds the same process, by pid and start time. NULL if it is not in the snapshot. */
struct process *snapshot_find_again(const struct snapshot *s, const struct process *p);

/* Finds the memcg with that path, NULL if it was not read. */
const struct memcg *snapshot_find_memcg(const struct snapshot *s, const char *path);

/*
 * Chooses the owner of each mm (mm_owner) among `rows`: the process that started first. Returns 0
 * or -ENOMEM.
 */
int snapshot_own_mm(struct snapshot *s, struct process *const *rows, size_t count);

#endif
