/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Columns: the names that --columns and --sort accept, and how each is read from a process. Every
 * counter is a column; other columns identify the process.
 */
#ifndef ZMEM_FIELDS_COLUMN_H
#define ZMEM_FIELDS_COLUMN_H

#include <stdbool.h>
#include <stddef.h>

#include "fields/row.h"
#include "model/snapshot.h"

enum column_kind {
	COLUMN_COUNTER, /* bytes, or a number (is_count) */
	COLUMN_NUMBER,
	COLUMN_TEXT,
	COLUMN_PERCENT, /* a counter as a share of RAM, of swap or of a limit, one in percent, a
			   ratio */
	COLUMN_TIME,	/* ms since the epoch */
	COLUMN_CHANGE,	/* by how much a counter changed; likewise */
};

/* What a column needs beyond the counters. Only what is needed gets read. */
enum column_needs {
	NEEDS_USER = 1 << 0,
	NEEDS_CGROUP = 1 << 1,
	NEEDS_CMDLINE = 1 << 2,
	NEEDS_PROGRAM = 1 << 3, /* program names, if the name of the executable is not enough */
	NEEDS_MEMCG = 1 << 4,	/* only for groups */
	NEEDS_MEMCG_DETAIL = 1 << 5, /* likewise: more than charge and limit */
	NEEDS_SWAP_SHMEM = 1 << 6,   /* the holders of files, while swap is in use */
	NEEDS_SWAP_COSTS = 1 << 7,   /* swap slots, likewise */
};

struct column {
	const char *key;
	const char *json_key; /* the key in JSON, with the unit */
	const char *header;
	const char *help;
	enum column_kind kind;
	enum counter counter; /* of COUNTER, PERCENT and CHANGE */
	bool is_count;	      /* of COUNTER and CHANGE: not bytes */
	unsigned needs;	      /* enum column_needs */
	bool most_first;      /* of NUMBER: an amount, not an identifier */
	bool own_whole;	      /* of PERCENT: each row's is a share of another value */
	/* Of NUMBER and TIME: false if not measured. */
	bool (*number)(const struct snapshot *s, const struct row *r, int64_t *ret);
	/* Of TEXT: NULL if not measured. Of containers and pods: with those that they are in. */
	const char *(*text)(const struct process *p);
};

/* All columns except changes, in the order of the help. */
extern const struct column *const column_table[];
extern const size_t column_count;
/* "KEY_change" of each counter, for watch and top; column_find() finds only those of processes. */
extern const struct column *const column_changes[COUNTER_COUNT];
/* In how many ticks PSS and swap grew, for watch and top. */
extern const struct column column_grew;

/* The text that a row shows: a process has the names of its pod and container alone. */
const char *column_text(const struct column *c, const struct process *p);

/*
 * The column with that key, ignoring case, or with the name that other tools use (res, vsz,
 * %mem, args), or the only one with that heading. NULL if there is none.
 */
const struct column *column_find(const char *key, size_t len);
/* The column that a mistyped key may mean. NULL: none is near. */
const struct column *column_nearest(const char *key, size_t len);

/* The percentage for the values of a row or a sum; false if it was not measured. */
bool column_percent(const struct snapshot *s, const struct column *c, counter_mask have,
		    const uint64_t *value, double *ret_percent);

#define COLUMNS_MAX 112

struct column_list {
	const struct column *item[COLUMNS_MAX];
	size_t count;
};

/*
 * Parses "a,b,c" (the new list) or "+a,+b" / "+a,b" (added to the list, before a text in the last
 * column; command lines come last). On a bad name it returns -EINVAL, leaves the list unchanged and
 * sets *ret_bad and *ret_bad_len to the name.
 */
int column_list_parse(struct column_list *list, const char *spec, const char **ret_bad,
		      size_t *ret_bad_len);
/* Parses sort keys likewise. "-KEY" is an amount, largest first, as it is without the sign. */
int column_list_parse_keys(struct column_list *list, const char *spec, const char **ret_bad,
			   size_t *ret_bad_len);
/*
 * The default columns of a table. `group`: the column that rows are grouped by, NULL for processes.
 */
void column_list_default(struct column_list *list, const struct column *group);
/* The same with swap and the parts of RSS (--long). */
void column_list_long(struct column_list *list, const struct column *group);
/* The default columns of watch and top: with changes. */
void column_list_watch(struct column_list *list, const struct column *group);
bool column_list_has(const struct column_list *list, const struct column *c);
/* Inserts a column before item `at` of a default list, unless the list has it. */
void column_list_insert(struct column_list *list, size_t at, const struct column *c);
/* True if one of the columns is a change, or column_grew. */
bool column_list_changes(const struct column_list *list);
/*
 * The columns of a process or group in zmem.snapshot, in that order; command lines only on request.
 */
void column_list_whole(struct column_list *list, const struct column *group);
/*
 * Returns a column of memcg counters if the rows are not cgroups: processes (`group` NULL), or
 * groups by another column. Such a column would be empty. NULL: there is none.
 */
const struct column *column_list_misplaced(const struct column_list *list,
					   const struct column *group);
/* Union of enum column_needs. */
unsigned column_list_needs(const struct column_list *list);

#endif
