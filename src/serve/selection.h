/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers one request from the snapshot that the collector sent. Pure. A snapshot serves any number
 * of selections, one after the other.
 */
#ifndef ZMEM_SERVE_SELECTION_H
#define ZMEM_SERVE_SELECTION_H

#include "query/result.h"
#include "serve/group_tracker.h"

struct selection {
	struct snapshot snapshot; /* borrows all but its arenas */
	struct query_rows rows;
	struct result result;
};

/*
 * The rows of the query. Returns 0, -ENOMEM, or -E2BIG where its pattern has spent its budget.
 * selection_done() in either case.
 */
int selection_query(struct selection *v, struct snapshot *snapshot, const struct query *q);
/*
 * Groups for metrics: those of `tracked`, which is fed with them, are rows, all others are summed.
 * `group` NULL: by unit, and processes without a unit by name. To be called once for a snapshot,
 * which was taken at `now_us`.
 */
int selection_metrics(struct selection *v, struct snapshot *snapshot, const struct column *group,
		      struct group_tracker *tracked, uint64_t now_us);
void selection_done(struct selection *v);

#endif
