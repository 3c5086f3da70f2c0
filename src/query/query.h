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

/* A group of processes that have the value of a column in common. */
struct group_id {
	const struct column *key; /* NULL: any process */
	const char *text;	  /* NULL: they have none (no unit, no container) */
	uid_t uid;		  /* instead of the text if the column is the user */
};

struct filter {
	const pid_t *pids; /* sorted; NULL: any */
	size_t pid_count;
	const uid_t *uids; /* sorted; NULL: any */
	size_t uid_count;
	struct pattern *pattern; /* matched with name, then with cmdline; NULL: any */
	pid_t self; /* the process with the pattern in its cmdline, which is not matched; 0: none */
	pid_t without;	    /* a process that is left out, unless pids are asked for; 0: none */
	const char *cgroup; /* NULL: any; see filter_matches_cgroup() */
	struct cgroups_seen *seen; /* rows_select() sets it */
	const char *units;	   /* NULL: any; see filter_matches_unit() */
	struct group_id group;
};

#define FILTER_UNIT_MAX 255 /* bytes of a unit's name (UNIT_NAME_MAX of systemd) */

/* Sorts in the order that a filter needs. */
void filter_sort_pids(pid_t *pids, size_t count);
void filter_sort_uids(uid_t *uids, size_t count);

/*
 * By pid and uid alone: for rows whose names and command lines were not read yet. Both return 1, 0,
 * or -E2BIG if the pattern has spent its budget of steps.
 */
int filter_matches_id(const struct filter *f, const struct process *p);
/* By all filters. Kernel threads and zombies match only if their pid was asked for. */
int filter_matches(const struct filter *f, const struct process *p);

/*
 * Whether the path is a cgroup that the glob matches, or lies in one. A glob with a '/' matches
 * whole paths, and its '*' matches slashes; a glob without matches any one name of the path. Only
 * '*', '?' and brackets are special, here and in units: a name matches itself.
 */
bool filter_matches_cgroup(const char *glob, const char *path);

/*
 * Whether one of the globs of a list matches the whole name of the unit, which has blanks if its
 * manager is not that of the system: "ssh.service (user 1000)". As in systemctl, a name without a
 * suffix means the service: "ssh" is ssh.service.
 */
bool filter_matches_unit(const char *globs, const char *unit);
/* Walks such a list as parse_item() does, but a blank in an item belongs to it. */
const char *filter_next_unit(const char **pos, size_t *ret_len);

/* Rows: pointers into a snapshot. */
struct rows {
	struct process **item;
	size_t count;
	size_t capacity; /* of its own items, which are used again; 0: items are borrowed */
};

/* Forgets the items and makes room for `count`. Returns 0 or -ENOMEM. */
int rows_reserve(struct rows *rows, size_t count);
void rows_done(struct rows *rows);
/*
 * Sets the rows to the processes that matches() accepts. Each call restores the budget of the
 * pattern, and matches each cgroup once. Returns 0, -ENOMEM, or -E2BIG as above.
 */
int rows_select(struct snapshot *s, const struct filter *f,
		int (*matches)(const struct filter *, const struct process *), struct rows *rows);

/* Sets c->filtered: the processes that are not among the rows. */
void rows_count_filtered(const struct rows *rows, struct collection *c);
/* The source of the rows' PSS. */
enum pss_source rows_pss_source(const struct rows *rows);

/* Rows that stand for several processes each. */
struct sums {
	struct process *item;
	struct rows rows; /* those that are shown, in order */
	size_t capacity;
	unsigned idle;		/* how often in a row far fewer were needed (base/array.h) */
	struct tree_node *node; /* of a tree */
	struct rows sorted;
	struct arena text; /* names that no process has */
};

void sums_done(struct sums *sums);
/* Whether processes can be grouped by that column. */
bool group_possible(const struct column *key);
/* The id of the group of a row, or of a process. The text is borrowed from it. */
struct group_id group_id_of(const struct column *key, const struct process *p);
bool group_has(const struct group_id *group, const struct process *p);
/*
 * Makes a row for each value of the column, NULL being a value; sorts the rows by it. An address
 * space counts once, in the group of the process that carries it (mm_owner). A group has the names
 * that all its processes have; a unit, a container or a cgroup has the path of its cgroup, if it is
 * one cgroup. Strings belong to the processes and to the sums. Returns 0 or -ENOMEM.
 */
int group_rows(const struct column *key, struct rows *rows, struct sums *groups);

struct order {
	struct column_list keys;
	bool reverse;
};

/*
 * Sorts by the keys, then by pid: no two processes are equal. Counters, percentages and counts
 * (threads, procs, oom_score_adj) are biggest first, all else ascending. A value that was not
 * measured stands by the most that it can be (PSS by RSS), and last if it has no bound.
 */
void order_rows(const struct order *o, const struct snapshot *s, struct rows *rows);

/*
 * Finds the first `top` rows exactly, with as few expensive reads as possible. Puts the rows into
 * ret_need whose expensive values are unread (PSS_SKIPPED) and that, by the bounds of these values,
 * can still be among the first `top`. The caller reads them and calls again, until it returns 0:
 * the first `top` are certain. ret_need must have room for `top`. Reorders rows.
 */
size_t order_unread(const struct order *o, const struct snapshot *s, struct rows *rows, size_t top,
		    struct process **ret_need);

/*
 * Removes the rows that are below `min` bytes by the first key, or by PSS if that is no size. The
 * others come first; removed rows stay after them. A row that was not measured stays, unless its
 * bound is below.
 */
void order_at_least(const struct order *o, uint64_t min, struct rows *rows);

/* Rows of a tree that are folded: the rows below them are hidden. */
struct folds {
	struct fold {
		pid_t pid;
		uint64_t start_ns;
	} * item; /* sorted */
	size_t count, capacity;
};

bool folds_has(const struct folds *folds, const struct process *p);
/* Folds a row. Returns 0 or -ENOMEM. */
int folds_add(struct folds *folds, const struct process *p);
void folds_remove(struct folds *folds, const struct process *p);
/* Forgets processes that the snapshot does not have. */
void folds_prune(struct folds *folds, const struct snapshot *s);
void folds_done(struct folds *folds);

/*
 * Makes a row of each process, with the sums of it and of all rows below it. Parents stand before
 * their children, and children in the order asked for; names begin with the branches of the tree.
 * A process between two rows that is no row is skipped. Subtrees below `min` bytes, as above, are
 * left out, and so are the rows below a folded row, which has a mark before its name. `folds`:
 * NULL: none. Returns 0 or -ENOMEM.
 */
int tree_rows(const struct order *o, uint64_t min, const struct folds *folds,
	      const struct snapshot *s, const struct rows *rows, struct sums *tree);

/* Sums over rows, an address space once. */
struct totals {
	size_t processes;
	size_t pss_missing; /* processes without PSS */
	counter_mask have;
	counter_mask partial; /* sums that lack the value of some process: lower bounds */
	uint64_t value[COUNTER_COUNT];
};

/* False: another process carries the address space, or the process has no memory. */
bool totals_counts(const struct process *p);
/* A value that no row has, or that pruning left unread (`pruned`), is absent. */
void totals_sum(struct process *const *rows, size_t count, bool pruned, struct totals *ret_totals);

/*
 * Sorts mappings by the keys: sizes and numbers biggest first, all else ascending, then by pid and
 * address or by name.
 */
void order_maps(const struct map_keys *keys, bool reverse, struct mapping **rows, size_t count);

/* ---- the query ---- */

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
	QUERY_UNIT,
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
	uint64_t min;	    /* bytes; smaller rows are hidden; 0: none */
	size_t top;	    /* that many rows; 0: all */
	size_t fit;	    /* that many rows fit on a terminal, unless `top` is set; 0: any */
	bool tree;	    /* rows are processes with the sums of their descendants */
	bool total;	    /* no rows, only their sum */
	bool only_changed;  /* rows that did not change are hidden */
	bool only_grown;    /* hides our own process, and rows whose PSS and swap (else RSS) did not
			       grow */
	uint64_t grown_min; /* bytes; hides likewise rows that grew by less */
	unsigned needs;	    /* enum column_needs of the rows that are shown */
	const struct folds *folds; /* of the tree; NULL: none */
	struct delta_set *deltas;  /* earlier rows, which rows are compared with; NULL: none */
	/* Private: memory of the filter. */
	pid_t *pids;
	uid_t *uids;
	char *cgroup;
	char *units;
	uint64_t text_hash[QUERY_WORDS];
};

void query_done(struct query *q);

/* The same number for the same filter. */
uint64_t query_filter_key(const struct query *q);

#endif
