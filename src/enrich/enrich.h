/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Adds what only /proc has to rows that will be shown: PSS and USS from smaps_rollup, names of
 * users and cgroups, command lines; and reads values of the machine. Every process is identified by
 * its start time. A worker with a deadline reads each file of another process, because a process
 * that hangs in exec or on its mmap_lock blocks its readers. Strings go into the snapshot's arena.
 */
#ifndef ZMEM_ENRICH_H
#define ZMEM_ENRICH_H

#include "model/files.h"
#include "model/maps.h"
#include "model/ram.h"
#include "model/program.h"
#include "model/snapshot.h"
#include "privilege/helper.h"
#include "proc/procfs.h"
#include "proc/smaps.h"
#include "model/process_list.h"
#include "query/app_rules.h"

/* ---- files that may block ---- */

enum pool_file {
	POOL_ROLLUP,  /* smaps_rollup, parsed */
	POOL_STATUS,  /* text */
	POOL_CGROUP,  /* text */
	POOL_CMDLINE, /* text, its first POOL_CMDLINE_MAX bytes */
	POOL_EXE,     /* text: the executable's base name */
	POOL_PROGRAM, /* text: the program's name from cmdline, and nothing else of it */
	POOL_APP,     /* text: cmdline, its first POOL_APP_MAX bytes */
	POOL_MAPS,    /* smaps, mapping by mapping */
	POOL_NAMES,   /* smaps, summed by name */
	POOL_GPU,     /* files of GPUs and dma-bufs */
	POOL_DRIVERS, /* maps and smaps: pages that drivers mapped, by the name of the mapping */
};

#define POOL_CMDLINE_MAX PROGRAM_CMDLINE_MAX
#define POOL_APP_MAX	 65536 /* the class path of Java stands before its class */

struct pool_result {
	enum pss_status status; /* PSS_OK: the file was read */
	int error;		/* a negative errno without free files or memory, else 0 */
	struct smaps_rollup counters;
	char *text; /* terminated, to be freed by the caller; NULL of smaps_rollup */
	size_t len;
	struct map_set *maps;  /* of POOL_MAPS and POOL_NAMES, to be freed by the caller */
	struct ram_part *part; /* of POOL_DRIVERS, likewise */
	size_t parts;
	struct gpu_part *gpu; /* of POOL_GPU, likewise */
	size_t gpus;
};

/* Workers that read /proc. A stuck process blocks one worker, not the caller. */
struct proc_pool;

/* `workers` 0: one a CPU. Returns NULL without memory. The procfs is copied and must stay open. */
struct proc_pool *proc_pool_new(const struct procfs *proc, unsigned workers, unsigned deadline_ms);
/*
 * Reads a file of each process: results[i] of rows[i]. The deadline of a process is `deadline_ms`
 * plus a time for its size. After it the process is PSS_TIMEOUT and its worker is left behind. Each
 * timeout halves the deadline of later processes, so that many stuck processes do not add up. While
 * the worker waits, this file of the process is not read again and is PSS_TIMEOUT at once.
 * smaps is read in pieces: the deadline is for each piece, and the whole file gets a minute.
 * With check_start the process is identified by its start time, which takes another file. Without
 * it the caller checks afterwards that the process is the same. If no thread can be started
 * (pids.max, RLIMIT_NPROC), the caller reads without a deadline; the processes that a thread
 * already waits for time out. Returns 0, or a negative errno without free files or memory: then the
 * results are not valid, but their texts and maps must be freed.
 */
int pool_read(struct proc_pool *pool, enum pool_file file, bool check_start,
	      struct process *const *rows, size_t count, struct pool_result *results);
/*
 * Reads command lines without their files: calls `set` for each process that it can tell, with the
 * first `most` bytes, to be freed; of the others the files are read. Returns 0 or a negative errno.
 */
typedef int pool_arguments(void *arg, struct process *const *rows, size_t count, size_t most,
			   void (*set)(void *results, size_t i, char *text, size_t len),
			   void *results);
void pool_set_arguments(struct proc_pool *pool, pool_arguments *fn, void *arg);
/* Resets the deadline and the budget for the paths of deep cgroups, for a new snapshot. */
void pool_patient(struct proc_pool *pool);
/* Shortens the deadline from now on, for less important files. */
void pool_hurry(struct proc_pool *pool, unsigned deadline_ms);
/* True if the caller had to read because no thread could be started. */
bool pool_alone(const struct proc_pool *pool);
/* The numbers of smaps_rollup and of cmdline files read so far. */
size_t pool_rollups(const struct proc_pool *pool);
size_t pool_cmdlines(const struct proc_pool *pool);
void proc_pool_free(struct proc_pool *pool);

/* ---- smaps_rollup ---- */

/* Sets PSS, USS and the other values, or the status that says why there are none. */
void rollup_apply(struct process *p, const struct pool_result *result);

/* ---- names ---- */

/* User names, read from passwd once. */
struct user_table;

/* NULL without memory. */
struct user_table *user_table_new(void);
void user_table_free(struct user_table *users);
/*
 * Forgets users that are not in passwd if there are far more of them than `processes`; their names
 * are then invalid. Containers and units with DynamicUser bring new users without end.
 */
void user_table_forget(struct user_table *users, size_t processes);
/* NULL for a uid without a name. Valid until it is forgotten. */
const char *user_name(struct user_table *users, uid_t uid);
/* Returns 0, or -ENOENT if no user has the name. */
int user_find(struct user_table *users, const char *name, uid_t *ret_uid);
/* False in a static program, which knows only the users of passwd. */
bool users_all_found(void);

/* Sets user; names are valid until they are forgotten. */
void enrich_users(struct user_table *users, struct process_list *processes);
/*
 * Sets cgroup, unit and container; reads one file for all processes in the same cgroups. Returns 0
 * or a negative errno, as do the next three; a name that could not be read stays NULL.
 */
int enrich_cgroups(struct proc_pool *pool, struct snapshot *s, struct process_list *processes);
/* Likewise of one process with a known path below the memory controller. */
int enrich_cgroup_path(struct snapshot *s, struct process *p, const char *path);
/* Users of whom a helper was lost. */
#define CONTAINER_LOST_MAX 64

/*
 * Reads files in homes of users, which may be on file systems that hang, by helpers with the rights
 * of these users. A user of whom a helper was lost is not asked for a while, and for longer each
 * time: so a user cannot have each snapshot wait. Zeroed memory, but for patience_us, is the
 * beginning. It needs no end.
 */
struct container_reader {
	struct helpers helpers;
	uint64_t patience_us; /* for all users of one call */
	/* The rest is private. */
	uint64_t end_us;
	struct container_lost {
		uid_t uid;
		unsigned times;
		uint64_t again_us; /* when it is asked again */
	} lost[CONTAINER_LOST_MAX];
	size_t lost_count;
};

/*
 * Sets container, pod and namespace of rows with a container that has an id, from the files of
 * engines and of the kubelet below `root`; container_status says why a name is missing. Only
 * engines of the owner name a container: root, or the user who made its cgroup; the uid stands
 * behind the name. `reader` reads files of users. `proc` has the mounts of cgroups. No file is read
 * if no row has such a container. Returns 0 or a negative errno.
 */
int enrich_containers(struct container_reader *reader, const struct procfs *proc, const char *root,
		      struct snapshot *s, struct process_list *processes);
/*
 * Sets the program's name from the executable's. Reads and drops the command lines of interpreters
 * and multi-call binaries, and of no other process.
 */
int enrich_programs(struct proc_pool *pool, struct snapshot *s, struct process_list *processes);
/*
 * Sets app, and the program's name if it depends on cmdline. Reads and drops the command lines that
 * an app may be in, and no others; with rules those of all processes: a rule is matched with the
 * name, with the executable's, and with the first POOL_APP_MAX bytes of the command line.
 * `rules`: NULL: none. -EDQUOT: they take too many steps.
 */
int enrich_apps(struct proc_pool *pool, struct app_rules *rules, struct snapshot *s,
		struct process_list *processes);
/* Sets cmdline, and the program's name if it depends on cmdline. */
int enrich_cmdlines(struct proc_pool *pool, struct snapshot *s, struct process_list *processes);
/*
 * Names the programs of the first `most` holders of each of these files of the set. A process that
 * ended, or that cannot be read, has no name but comm. Returns 0 or a negative errno.
 */
int enrich_holders(struct proc_pool *pool, struct file_set *set, struct cached_file *const *files,
		   size_t count, uint32_t most);
/* Completes the names that were too long for a record. */
int enrich_names(struct proc_pool *pool, struct snapshot *s);

/*
 * Names of processes, kept for the next snapshot: of a bounded number of processes, for a minute at
 * most. The record of a process shows whether it called exec or moved to another cgroup.
 */
struct name_cache;

/* NULL without memory. */
struct name_cache *name_cache_new(void);
void name_cache_free(struct name_cache *cache);
/* Names the same processes; strings are valid until the next but one name_cache_update(). */
void name_cache_apply(const struct name_cache *cache, struct snapshot *s, int64_t now_ms);
/* Replaces the kept names. Returns 0, or -ENOMEM: then fewer are kept. */
int name_cache_update(struct name_cache *cache, const struct snapshot *s);

struct memcg_rates; /* enrich/memcg_rates.h */

/*
 * Sets the charge and the limit of groups with a known memory cgroup (`controlled`). The limit is
 * the lowest of the cgroup and its visible ancestors, absent if there is none. Both are absent for
 * the root, for a cgroup that is gone or outside our namespace, and without a mounted hierarchy.
 * With `details` also the counters from COUNTER_MEM_HIGH on that this kernel has: the kernel then
 * makes the sums of memory.stat.
 *
 * Any user may make cgroups, so this has bounds: MEMCG_DEPTH_MAX levels, bytes, and *left_us
 * microseconds, from which the time that it took is subtracted. Cgroups with processes that are
 * beyond are counted in cgroups_left_out of the snapshot's collection. Their groups have the values
 * of the nearest cgroup above that was read (memcg_above). A group needs room for them (`charged`).
 * `rates`: what happened since their last reading is told as well; NULL: it is not asked for.
 * Returns 0 or a negative errno.
 */
int enrich_memcgs(const struct procfs *proc, struct snapshot *s, struct process_list *groups,
		  bool details, struct memcg_rates *rates, uint64_t *left_us);
/*
 * Fills in s->memcg with the memory cgroups of all groups that these rows can form, and those above
 * them, within the same bounds. The cgroup `first` and those above it are read in any case; NULL:
 * none. Returns 0 or a negative errno.
 */
enum memcgs_asked {
	MEMCGS_LIMITS,	/* charge and limits */
	MEMCGS_FIGURES, /* charge, limit, events */
	MEMCGS_STALLS,	/* likewise, and how long their tasks waited (PSI; v2) */
	MEMCGS_DETAILS, /* all counters */
	MEMCGS_ALL,	/* likewise, also of cgroups without processes */
};
int memcgs_read(const struct procfs *proc, struct snapshot *s, struct process_list *processes,
		enum memcgs_asked asked, const char *first, struct memcg_rates *rates,
		uint64_t *left_us);
/* Reads all of those of s->memcg that are near a limit. Returns 0 or a negative errno. */
int memcgs_read_near(const struct procfs *proc, struct snapshot *s, struct memcg_rates *rates,
		     uint64_t *left_us);
/* Whether memory cgroups are those of cgroup v1. False: of v2, there are none, or no memory. */
bool memcgs_are_v1(const struct procfs *proc);
/*
 * Whether one of s->memcg is at a limit that it has reached before; and reads all of these, and of
 * those below them, again: what happened to them since the last reading.
 */
bool memcgs_are_held(const struct snapshot *s);
int memcgs_read_held(const struct procfs *proc, struct snapshot *s, struct memcg_rates *rates,
		     uint64_t *left_us);
/*
 * Reads all of one cgroup, without its path; what it does not have is not known. `scratch`: its
 * scratch memory is used. Returns 0 or a negative errno.
 */
int memcg_read(const struct procfs *proc, struct snapshot *scratch, const char *path,
	       struct memcg *ret);
/* Copies the values of s->memcg into their groups, as enrich_memcgs() does. Pure. */
void memcgs_apply(const struct snapshot *s, struct process_list *groups);

/* ---- the machine ---- */

/* The bits of the NUMA nodes with RAM, of those below NODES_MAX; node 0 if it is not known. */
uint32_t machine_nodes(void);
/* Sets the nodes that the threads of processes with PSS by node may run on. */
void machine_read_cpus(const struct procfs *proc, struct process *const *process, size_t count);
/* What the kernel counts of huge pages that are mapped in part, in /sys. */
struct partly_mapped machine_partly_mapped(void);
/* Reads names and values of the machine. What cannot be read stays empty, 0 or without its bit. */
void machine_read(const struct procfs *proc, struct host_info *host, struct system_info *system);
/*
 * Sums what tmpfs mounts hold. The name is in the arena. One below a mount that may hang is left
 * out. Returns 0 or a negative errno.
 */
int machine_read_tmpfs(const struct procfs *proc, struct arena *arena, struct tmpfs_use *ret);
/* Reads vmstat again: what happened since boot. */
void machine_read_totals(const struct procfs *proc, uint32_t page_size, struct system_info *system);
/*
 * Whether kernel.task_delayacct is on. False: the kernel does not tell, before 5.14
 * (kernel/delayacct.c).
 */
bool machine_accounts_delays(const struct procfs *proc, bool *ret);
/*
 * The same without what no table of processes shows: pressure, activity, the boot, free lists and
 * huge pages that are mapped in part.
 */
void machine_read_figures(const struct procfs *proc, struct host_info *host,
			  struct system_info *system);

#endif
