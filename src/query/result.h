/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers a query from a snapshot: filter, group or tree, delta, minimum, order, cut, totals. Pure.
 * Some steps need names. query_needs() says which, and the caller reads them before the step.
 *
 *   query_select_ids     by pid and user
 *   query_select_text    by name, command line and cgroup: needs.filter
 *   query_group          groups or the tree: needs.group
 *   query_show           the rest; memory cgroups of the groups: needs.order
 */
#ifndef ZMEM_QUERY_RESULT_H
#define ZMEM_QUERY_RESULT_H

#include "model/snapshot.h"
#include "query/query.h"
#include "query/sums.h"

/*
 * Shows the first `shown` rows, sums the others and all rows, and counts the processes that are
 * shown in c->reported. `pruned`: as of totals_sum().
 */
void result_cut(struct result *r, struct collection *c, const struct rows *rows, size_t shown,
		bool pruned);

/* Sets c->filtered: the processes that are not among the rows. */
void rows_count_filtered(const struct process_list *processes, struct collection *c);
/* The source of the rows' PSS. */
enum pss_source rows_pss_source(const struct process_list *processes);

/* Names that must be known, enum process_needs. */
struct query_needs {
	unsigned filter; /* of all processes, before query_select_text() */
	unsigned group;	 /* of all chosen processes, before query_group() */
	unsigned order;	 /* of all groups, before query_show(): NEEDS_MEMCG or 0 */
	unsigned shown;	 /* of the rows that are shown */
};

void query_needs(const struct query *q, struct query_needs *ret);
/*
 * How many of the first rows, in the order of order_unread(), need their expensive counters; 0:
 * every row does.
 */
size_t query_certain(const struct query *q);
/* Each returns 0, -ENOMEM, or -E2BIG if the pattern has spent its budget. */
int query_select_ids(struct snapshot *s, const struct query *q, struct query_rows *rows);
int query_select_text(struct snapshot *s, const struct query *q, struct query_rows *rows);
int query_group(struct snapshot *s, const struct query *q, struct query_rows *rows);
/*
 * `pruned`: expensive counters were read for the first rows alone (query_certain()). The result
 * borrows from the snapshot, the query and the rows.
 */
void query_show(struct snapshot *s, const struct query *q, struct query_rows *rows, bool pruned,
		struct result *ret);

#endif
