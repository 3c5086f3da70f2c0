/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Columns: what --columns and --sort may name, and how each is read from a process. All counters
 * are columns; the others say who the process is.
 */
#ifndef ZMEM_COLUMN_H
#define ZMEM_COLUMN_H

#include <stdbool.h>
#include <stddef.h>

#include "model/snapshot.h"

enum column_kind {
	COLUMN_COUNTER, /* bytes */
	COLUMN_NUMBER,
	COLUMN_TEXT,
	COLUMN_PERCENT, /* a counter as a share of RAM, of swap or of a limit */
	COLUMN_TIME,	/* ms since the epoch */
	COLUMN_CHANGE,	/* by how many bytes a counter changed */
};

/* What a column needs beyond the counters, so that only that is read. */
enum column_needs {
	NEEDS_USER = 1 << 0,
	NEEDS_CGROUP = 1 << 1,
	NEEDS_CMDLINE = 1 << 2,
	NEEDS_PROGRAM = 1 << 3, /* names of programs, where the executable's is not enough */
	NEEDS_MEMCG = 1 << 4,	/* of groups alone */
};

struct column {
	const char *key;
	const char *json_key; /* the same for machines, with the unit */
	const char *header;
	const char *help;
	enum column_kind kind;
	enum counter counter; /* of COUNTER, PERCENT and CHANGE */
	unsigned needs;	      /* enum column_needs */
	bool most_first;      /* of NUMBER: says how many or how much, not which */
	/* Of NUMBER and TIME: false if not measured. */
	bool (*number)(const struct snapshot *s, const struct process *p, int64_t *ret);
	/* Of TEXT: NULL if not measured. */
	const char *(*text)(const struct process *p);
};

/* All columns but changes, in the order in which help lists them. */
extern const struct column *const column_table[];
extern const size_t column_count;
/* "KEY_change" of each counter, for commands that stay; only those of a process can be found. */
extern const struct column *const column_changes[COUNTER_COUNT];

/* The column with that key; upper and lower case are one. NULL if there is none. */
const struct column *column_find(const char *key, size_t len);

/* A percentage of a row's or a sum's values; false if it was not measured. */
bool column_percent(const struct snapshot *s, const struct column *c, counter_mask have,
		    const uint64_t *value, double *ret_percent);

#define COLUMNS_MAX 80

struct column_list {
	const struct column *item[COLUMNS_MAX];
	size_t count;
};

/*
 * Reads "a,b,c" (the list) or "+a,+b" / "+a,b" (appended to what the list holds). On a bad name
 * returns -EINVAL, leaves the list as it was and points *ret_bad and *ret_bad_len at the name.
 */
int column_list_parse(struct column_list *list, const char *spec, const char **ret_bad,
		      size_t *ret_bad_len);
/* The columns of a table that nobody asked otherwise; of groups by that column, NULL: processes. */
void column_list_default(struct column_list *list, const struct column *group);
/* The same of a command that stays: with changes. */
void column_list_watch(struct column_list *list, const struct column *group);
bool column_list_has(const struct column_list *list, const struct column *c);
/* Whether one of them is a change. */
bool column_list_changes(const struct column_list *list);
/* Without those that a narrow terminal can do without and that `asked` (--columns, or NULL) does
 * not name: what it only adds to is narrowed, too. */
void column_list_narrow(struct column_list *list, const char *asked);
/*
 * Those that a process or group has in zmem.snapshot, in that order; command lines only if asked
 * for.
 */
void column_list_whole(struct column_list *list, const struct column *group);
/*
 * One that is of cgroups where the rows are none: processes (`group` NULL), or groups by another
 * column. It would be a column, or an order, of nothing. NULL: there is none.
 */
const struct column *column_list_misplaced(const struct column_list *list,
					   const struct column *group);
/* Union of enum column_needs. */
unsigned column_list_needs(const struct column_list *list);

#endif
