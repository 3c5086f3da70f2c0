/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is asked of a snapshot (struct query), and the steps that answer it: filter, group or tree,
 * order. Pure: works on a snapshot, reads no file, allocates only what it returns.
 */
#ifndef ZMEM_QUERY_H
#define ZMEM_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "model/column.h"
#include "model/maps.h"
#include "query/pattern.h"
#include "model/snapshot.h"

struct filter {
	const pid_t *pids; /* sorted; NULL: any */
	size_t pid_count;
	const uid_t *uids; /* sorted; NULL: any */
	size_t uid_count;
	struct pattern *pattern; /* against name, then cmdline; NULL: any */
	pid_t self;	    /* its cmdline holds the pattern and is not matched; 0: of no process */
	const char *cgroup; /* NULL: any; see filter_matches_cgroup() */
	struct cgroups_seen *seen; /* rows_select() sets it */
};

#define PID_MAX (4 * 1024 * 1024) /* PID_MAX_LIMIT, include/linux/threads.h */

/* As a filter wants them. */
void filter_sort_pids(pid_t *pids, size_t count);
void filter_sort_uids(uid_t *uids, size_t count);

/*
 * By pid and uid alone: what can be said before names and command lines are read. Both return 1, 0,
 * or -E2BIG where the pattern has spent its budget of steps.
 */
int filter_matches_id(const struct filter *f, const struct process *p);
/* By everything. Kernel threads and zombies match only if their pid was asked for. */
int filter_matches(const struct filter *f, const struct process *p);

/*
 * Whether a process is in a cgroup that the glob describes, or further in. With a '/' in it, it is
 * about the whole path, where '*' takes in slashes; without, about any one name in the path.
 */
bool filter_matches_cgroup(const char *glob, const char *path);

/* Rows: pointers into a snapshot. */
struct rows {
	struct process **item;
	size_t count;
	size_t capacity; /* of items that are its own: used again the next time */
};

/* Forgets its items and has room for so many. Returns 0 or -ENOMEM. */
int rows_reserve(struct rows *rows, size_t count);
void rows_done(struct rows *rows);
/*
 * The processes that matches() accepts, in place of those it had. Each call gives the pattern its
 * whole budget, and matches each cgroup once. Returns 0, -ENOMEM, or -E2BIG as above.
 */
int rows_select(struct snapshot *s, const struct filter *f,
		int (*matches)(const struct filter *, const struct process *), struct rows *rows);

/* Counts those that are not among the rows, which were chosen of all. */
void rows_count_filtered(const struct rows *rows, struct collection *c);
/* Where their PSS comes from. */
enum pss_source rows_pss_source(const struct rows *rows);

/* Rows that stand for several processes each. */
struct sums {
	struct process *item;
	struct rows rows; /* those that are shown, in order */
	size_t capacity;
	unsigned idle;		/* how often in a row far fewer were needed (base/grow.h) */
	struct tree_node *node; /* of a tree: what it was made with */
	struct rows sorted;
	struct arena text; /* what the rows are called beyond what their processes are */
};

/* Forgets what it has and has room for so many. Returns 0 or -ENOMEM. */
int sums_reserve(struct sums *sums, size_t count, bool tree);
void sums_done(struct sums *sums);
/* Whether processes can be grouped by that column. */
bool group_possible(const struct column *key);
/*
 * A row for each value of the column, NULL being one; sorts the rows by it. An address space counts
 * once (mm_owner), for the group of the process that carries it. What all of a group are called is
 * what it is called; of a unit, a container or a cgroup it is the path of that one cgroup, if it
 * has one. Strings are those of the processes and of the sums. Returns 0 or -ENOMEM.
 */
int group_rows(const struct column *key, struct rows *rows, struct sums *groups);

struct order {
	struct column_list keys;
	bool reverse;
};

/*
 * Compares by the keys, counters, percentages and what counts (threads, procs, oom_score_adj)
 * biggest first, all else ascending, then by pid: never 0 for two processes. What was not measured
 * stands by the most it can be (PSS by RSS), and last where nothing bounds it.
 */
void order_rows(const struct order *o, const struct snapshot *s, struct rows *rows);

/*
 * Finds the first `top` rows exactly with as few expensive reads as can be: puts those rows into
 * ret_need whose expensive values are unread (PSS_SKIPPED) and that, by the bounds of these values,
 * could still be among the first `top`. Reads them, calls again; returns 0 when the first `top`
 * are certain. ret_need must have room for `top`. Reorders rows.
 */
size_t order_unread(const struct order *o, const struct snapshot *s, struct rows *rows, size_t top,
		    struct process **ret_need);

/*
 * Takes out the rows (they lie behind the others then) that are below `min` bytes by the first key,
 * or by PSS if that is no size. A row that was not measured stays, unless its bound is below.
 */
void order_at_least(const struct order *o, uint64_t min, struct rows *rows);

/*
 * Every row with the sums of its process and all below it among the rows, parents before their
 * children and those in the order asked for; names are led by the branches of the tree. What stands
 * between two rows and is none itself is skipped. Subtrees below `min` bytes, as above, are left
 * out. Returns 0 or -ENOMEM.
 */
int tree_rows(const struct order *o, uint64_t min, const struct snapshot *s,
	      const struct rows *rows, struct sums *tree);

/* Sums over rows, an address space once. */
struct totals {
	size_t processes;
	size_t pss_missing; /* processes without PSS */
	counter_mask have;
	uint64_t value[COUNTER_COUNT];
};

/* Whether a process is part of a sum, or another one carries its address space, or it has none. */
bool totals_counts(const struct process *p);
/* A value that no row has, or that pruning left unread (`pruned`), is absent. */
void totals_sum(struct process *const *rows, size_t count, bool pruned, struct totals *ret_totals);

/*
 * Sorts mappings by the keys: sizes and numbers biggest first, all else ascending, then by pid and
 * address or by name.
 */
void order_maps(const struct map_keys *keys, bool reverse, struct mapping **rows, size_t count);

/* ---- all of it ---- */

enum query_word {
	QUERY_GROUP_BY,
	QUERY_SORT,
	QUERY_REVERSE,
	QUERY_TOP,
	QUERY_MIN,
	QUERY_PID,
	QUERY_USER,
	QUERY_FILTER,
	QUERY_CGROUP,
	QUERY_WORDS,
};

struct delta_set;

/*
 * Which rows are wanted, and how. Zeroed memory asks for all processes by pid. query_parse.h fills
 * it from text, result.h answers it.
 */
struct query {
	struct filter filter;
	const struct column *group; /* rows are groups that have it in common; NULL: processes */
	struct order order;
	uint64_t min;	   /* bytes; smaller rows are hidden; 0: none */
	size_t top;	   /* that many rows; 0: all */
	size_t fit;	   /* that many rows fit on a terminal, unless `top` is set; 0: any */
	bool tree;	   /* rows are processes with the sums of their descendants */
	bool total;	   /* no rows, only their sum */
	bool only_changed; /* rows that did not change are hidden */
	bool only_grown;   /* rows whose PSS and swap did not grow are hidden */
	unsigned needs;	   /* enum column_needs of the rows that are shown */
	struct delta_set *deltas; /* earlier rows, which rows are compared with; NULL: none */
	/* Private: memory of the filter. */
	pid_t *pids;
	uid_t *uids;
	char *cgroup;
	uint64_t text_hash[QUERY_WORDS];
};

void query_done(struct query *q);

#endif
