/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a snapshot is asked for (struct query). query_parse.h fills it from text, and result.h
 * answers it. Pure.
 */
#ifndef ZMEM_QUERY_H
#define ZMEM_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "fields/process_fields.h"
#include "query/filter.h"
#include "query/order.h"
#include "query/sums.h"

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
struct folds;

/* Which rows are wanted, and how. Zeroed memory asks for all processes by pid. */
struct query {
	struct filter filter;
	const struct field *group; /* rows are groups that have it in common; NULL: processes */
	struct order order;
	uint64_t min;	    /* bytes; smaller rows are hidden; 0: none */
	size_t top;	    /* that many rows; 0: all */
	size_t fit;	    /* that many rows fit on a terminal, unless `top` is set; 0: any */
	bool tree;	    /* rows are processes with the sums of their descendants, or, with a
			       group of several keys, groups with those of the groups in them */
	bool memcgs;	    /* rows are cgroups, and all are rows (query_lists_memcgs()) */
	bool total;	    /* no rows, only their sum */
	bool only_changed;  /* rows that did not change are hidden */
	bool only_grown;    /* hides our own process, and rows that did not grow (row_size()) */
	uint64_t grown_min; /* bytes; hides likewise rows that grew by less */
	bool grown_steady;  /* but not those that row_grows_steadily() tells of */
	unsigned needs;	    /* enum process_needs of the rows that are shown */
	const struct folds *folds; /* of the tree; NULL: none */
	struct delta_set *deltas;  /* earlier rows, which rows are compared with; NULL: none */
	/* Private: memory of the filter. */
	pid_t *pids;
	uid_t *uids;
	char *cgroup;
	char *units;
	struct group_keys *keys; /* of `group`, if it is of several */
	uint64_t text_hash[QUERY_WORDS];
};

void query_done(struct query *q);

/*
 * Groups by cgroup, if it is asked for or if they are sorted by what cgroups are charged: then all
 * cgroups are rows, also those without processes. Filters of processes choose only cgroups that
 * have such processes.
 */
bool query_lists_memcgs(const struct query *q);

/* The same number for the same filter. */
uint64_t query_filter_key(const struct query *q);

/* Rows; their memory is used again for the next snapshot. Zeroed memory holds no rows. */
struct query_rows {
	struct process_list matched; /* processes that the filter accepts */
	struct sums sums;	     /* groups or the tree that is made of them */
	struct rows processes;	     /* a row for each of them */
	struct rows all;	     /* borrowed: the rows before any was hidden */
	struct process_list shown;   /* those of rows that are named or charged */
};

void query_rows_done(struct query_rows *rows);

#endif
