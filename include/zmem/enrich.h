/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What /proc adds to the rows that will be shown: PSS and USS from smaps_rollup, names of users and
 * cgroups, command lines, the machine itself. Every process is recognised by its start time before
 * anything is believed of it. Strings go into the snapshot's arena.
 */
#ifndef ZMEM_ENRICH_H
#define ZMEM_ENRICH_H

#include "zmem/procfs.h"
#include "zmem/query.h"
#include "zmem/smaps_rollup.h"
#include "zmem/snapshot.h"

/* ---- smaps_rollup ---- */

struct rollup_result {
	enum pss_status status; /* PSS_OK: figures are there */
	struct smaps_rollup figures;
};

/* Workers that read smaps_rollup. A target that is stuck holds up one of them, not the caller. */
struct rollup_pool;

/* `workers` 0: one a CPU. Returns NULL without memory. The procfs is copied and must stay open. */
struct rollup_pool *rollup_pool_new(const struct procfs *proc, unsigned workers,
				    unsigned deadline_ms);
/*
 * Reads all of them, results[i] of rows[i]. A process gets `deadline_ms` and what its size takes;
 * then it is PSS_TIMEOUT and its worker is left behind. Returns 0 or a negative errno when there
 * were no workers to be had at all.
 */
int rollup_read(struct rollup_pool *pool, struct process *const *rows, size_t count,
		struct rollup_result *results);
/* How many files were read so far. */
size_t rollup_reads(const struct rollup_pool *pool);
void rollup_pool_free(struct rollup_pool *pool);

/* Gives the process its PSS, USS and the rest, or the status that says why it has none. */
void rollup_apply(struct process *p, const struct rollup_result *result);

/* True if what smaps_rollup says of Rss and Swap fits the kernel's counters in p. */
bool rollup_agrees(const struct process *p, const struct smaps_rollup *figures);

/* ---- who they are ---- */

/* User names, read from passwd once. */
struct user_table;

struct user_table *user_table_new(void);
void user_table_free(struct user_table *users);
/* NULL if it has no name. Valid as long as the table. */
const char *user_name(struct user_table *users, uid_t uid);
/* Returns 0, or -ENOENT for a name nobody has. */
int user_find(struct user_table *users, const char *name, uid_t *ret_uid);

/* Sets user; names are valid as long as the table. */
void enrich_users(struct user_table *users, struct rows *rows);
/* Sets cgroup, unit and container, with one file read for all that have the same cgroups. */
void enrich_cgroups(const struct procfs *proc, struct snapshot *s, struct rows *rows);
/* Sets cmdline. */
void enrich_cmdlines(const struct procfs *proc, struct snapshot *s, struct rows *rows);
/* Completes the names that were too long for a record. */
void enrich_names(const struct procfs *proc, struct snapshot *s);

/* ---- the machine ---- */

void machine_read(const struct procfs *proc, struct host_info *host, struct system_info *system);

#endif
