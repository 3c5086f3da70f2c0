/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From a whole snapshot to what one request wants of it: src/app/rows.c without anything to read.
 * Pure. The snapshot serves any number of choices, one after the other.
 */
#ifndef ZMEM_SERVE_SELECTION_H
#define ZMEM_SERVE_SELECTION_H

#include "serve/http_query.h"
#include "serve/group_tracker.h"
#include "query/result.h"

struct selection {
	struct snapshot snapshot; /* borrows all but its arenas */
	struct rows rows;
	struct sums sums;
	struct result result;
};

/* Rows as the query has them. Returns 0 or -ENOMEM; selection_done() in either case. */
int selection_query(struct selection *v, struct snapshot *snapshot, const struct http_query *q);
/*
 * Groups for metrics, those of `tracked`, which is fed with them, as rows and all others summed.
 * `group` NULL: by unit, whoever has none by name. Once for a snapshot, taken at `now_us`.
 */
int selection_metrics(struct selection *v, struct snapshot *snapshot, const struct column *group,
		      struct group_tracker *tracked, uint64_t now_us);
void selection_done(struct selection *v);

#endif
