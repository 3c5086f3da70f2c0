/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What /proc adds to the rows that will be shown: PSS and USS from smaps_rollup, names of users and
 * cgroups, command lines, the machine itself. Every process is recognised by its start time before
 * anything is believed of it, and every file of another process is read by a worker with a
 * deadline: whoever hangs in exec or on its mmap_lock hangs its readers, too. Strings go into the
 * snapshot's arena.
 */
#ifndef ZMEM_ENRICH_H
#define ZMEM_ENRICH_H

#include "model/maps.h"
#include "proc/procfs.h"
#include "query/query.h"
#include "proc/smaps.h"
#include "model/snapshot.h"

/* ---- files that may block ---- */

enum pool_file {
	POOL_ROLLUP,  /* smaps_rollup, parsed */
	POOL_STATUS,  /* text */
	POOL_CGROUP,  /* text */
	POOL_CMDLINE, /* text, its first POOL_CMDLINE_MAX bytes */
	POOL_EXE,     /* text: the executable's base name */
	POOL_PROGRAM, /* text: the program's name, out of cmdline, and nothing else that is in it */
	POOL_MAPS,    /* smaps, mapping by mapping */
	POOL_NAMES,   /* smaps, summed by name */
};

#define POOL_CMDLINE_MAX 4096

struct pool_result {
	enum pss_status status; /* PSS_OK: it was read */
	int error;		/* we had no file or memory left to read it with, else 0 */
	struct smaps_rollup counters;
	char *text; /* to be freed by whoever asked; terminated; NULL of smaps_rollup */
	size_t len;
	struct map_set *maps; /* of POOL_MAPS and POOL_NAMES, likewise to be freed */
};

/*
 * Workers that read /proc. A target that is stuck holds up one of them, not the caller.
 */
struct proc_pool;

/* `workers` 0: one a CPU. Returns NULL without memory. The procfs is copied and must stay open. */
struct proc_pool *proc_pool_new(const struct procfs *proc, unsigned workers, unsigned deadline_ms);
/*
 * Reads that file of all of them, results[i] of rows[i]. A process gets `deadline_ms` and what its
 * size takes; then it is PSS_TIMEOUT and its worker is left behind; each time that happens, those
 * after it get half as long, so that many that are stuck do not add up. As long as its worker waits
 * for that file of it, it is not read again, and is PSS_TIMEOUT at once.
 * smaps, which is read in pieces, gets that for each piece, and a minute in all.
 * With check_start the process is recognised by its start time, which takes a file more. Without,
 * the caller makes sure afterwards that it was still the same.
 * Where no thread is to be had (pids.max, RLIMIT_NPROC) the caller reads, and waits for who is
 * stuck, save those that an earlier thread waits for already: these time out. Returns 0, or a
 * negative errno when there were no files or memory to read with: then the results are for the
 * waste, save their texts and maps, which are still to be freed.
 */
int pool_read(struct proc_pool *pool, enum pool_file file, bool check_start,
	      struct process *const *rows, size_t count, struct pool_result *results);
/* For a new snapshot: patience is as it was, whoever was stuck in the last one. */
void pool_patient(struct proc_pool *pool);
/* From now on a process gets no more than that, for what is not worth waiting for. */
void pool_hurry(struct proc_pool *pool, unsigned deadline_ms);
/* Whether the caller has had to read itself, for want of a thread. */
bool pool_alone(const struct proc_pool *pool);
/* How many smaps_rollup were read so far. */
size_t pool_rollups(const struct proc_pool *pool);
void proc_pool_free(struct proc_pool *pool);

/* ---- smaps_rollup ---- */

/* Gives the process its PSS, USS and the rest, or the status that says why it has none. */
void rollup_apply(struct process *p, const struct pool_result *result);

/* ---- who they are ---- */

/* User names, read from passwd once. */
struct user_table;

/* NULL without memory. */
struct user_table *user_table_new(void);
void user_table_free(struct user_table *users);
/*
 * Forgets those that are not in passwd, whose names are not valid any more, if there are far more
 * than so many processes can have: containers, and units with DynamicUser, bring new ones for ever.
 */
void user_table_forget(struct user_table *users, size_t processes);
/* NULL if it has no name. Valid until it is forgotten. */
const char *user_name(struct user_table *users, uid_t uid);
/* Returns 0, or -ENOENT for a name nobody has. */
int user_find(struct user_table *users, const char *name, uid_t *ret_uid);

/* Sets user; names are valid until they are forgotten. */
void enrich_users(struct user_table *users, struct rows *rows);
/*
 * Sets cgroup, unit and container, with one file read for all that have the same cgroups.
 * Returns 0 or a negative errno, as do the next three; what could not be read stays NULL.
 */
int enrich_cgroups(struct proc_pool *pool, struct snapshot *s, struct rows *rows);
/*
 * Makes the program's name of the executable's, reading the command lines of interpreters and
 * multi-call binaries, and of nobody else. They are not kept.
 */
int enrich_programs(struct proc_pool *pool, struct snapshot *s, struct rows *rows);
/* Sets cmdline, and the program's name where it takes that. */
int enrich_cmdlines(struct proc_pool *pool, struct snapshot *s, struct rows *rows);
/* Completes the names that were too long for a record. */
int enrich_names(struct proc_pool *pool, struct snapshot *s);

/*
 * What was read of processes, for the next snapshot of them, so that it is not read again: of a
 * bounded number, for a minute at most. What has exec'ed or moved is told by its record.
 */
struct name_cache;

/* NULL without memory. */
struct name_cache *name_cache_new(void);
void name_cache_free(struct name_cache *kept);
/* Names the processes that are the same; strings are valid until the next but one call of take. */
void name_cache_apply(const struct name_cache *kept, struct snapshot *s, int64_t now_ms);
/* In place of what was kept. Returns 0 or -ENOMEM: then less is kept. */
int name_cache_update(struct name_cache *kept, const struct snapshot *s);

/*
 * Of groups whose cgroup is known (`controlled`): what the memory controller charges it, and the
 * lowest limit of it and of those it is in, as far as they are to be seen. Both are absent of the
 * root, of a cgroup that is gone or outside our namespace, and without a mounted hierarchy; the
 * limit where there is none. Returns 0 or a negative errno.
 */
int enrich_memcgs(const struct procfs *proc, struct snapshot *s, struct rows *groups);

/* ---- the machine ---- */

/*
 * Reads who the machine is, and its own values. What cannot be read stays empty, 0 or without its
 * bit: no machine is refused.
 */
void machine_read(const struct procfs *proc, struct host_info *host, struct system_info *system);

#endif
