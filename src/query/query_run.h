/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers a query from a snapshot: filter, group or tree, delta, minimum, order, cut, totals. Pure.
 * Names must be known before some of the steps: query_needs() says which, and the caller reads them
 * between the steps.
 *
 *   query_select_ids     by pid and user
 *   query_select_text    by name, command line and cgroup: needs.filter
 *   query_group          groups or the tree: needs.group
 *   query_show           the rest; memory cgroups of the groups: needs.order
 *
 * query_run() is the last two.
 */
#ifndef ZMEM_QUERY_RUN_H
#define ZMEM_QUERY_RUN_H

#include "query/query.h"
#include "query/result.h"

/* Rows in memory that is used again for the next snapshot. Zeroed memory holds none. */
struct query_rows {
	struct rows chosen; /* processes that the filter accepts */
	struct sums sums;   /* groups or the tree that is made of them */
	struct rows made;   /* borrowed: the rows before any was hidden */
};

/* Names that must be known, enum column_needs. */
struct query_needs {
	unsigned filter; /* of all processes, before query_select_text() */
	unsigned group;	 /* of all chosen processes, before query_group() */
	unsigned order;	 /* of all groups, before query_show(): NEEDS_MEMCG or 0 */
	unsigned shown;	 /* of the rows that are shown */
};

void query_rows_done(struct query_rows *rows);
void query_needs(const struct query *q, struct query_needs *ret);
/*
 * Only so many first rows need their expensive counters; 0: every row does. The order is
 * order_unread()'s.
 */
size_t query_certain(const struct query *q);
/* Each returns 0, -ENOMEM, or -E2BIG where the pattern has spent its budget. */
int query_select_ids(struct snapshot *s, const struct query *q, struct query_rows *rows);
int query_select_text(struct snapshot *s, const struct query *q, struct query_rows *rows);
int query_group(struct snapshot *s, const struct query *q, struct query_rows *rows);
/*
 * `pruned`: expensive counters were read for the first rows alone (query_certain()). The result
 * borrows from the snapshot, the query and the rows.
 */
void query_show(struct snapshot *s, const struct query *q, struct query_rows *rows, bool pruned,
		struct result *ret);
int query_run(struct snapshot *s, struct query_rows *rows, const struct query *q,
	      struct result *ret);

#endif
