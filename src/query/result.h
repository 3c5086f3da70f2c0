/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a command found and a renderer shows. It borrows everything it points to. */
#ifndef ZMEM_RESULT_H
#define ZMEM_RESULT_H

#include "query/delta.h"
#include "query/query.h"
#include "model/snapshot.h"

struct result {
	const struct snapshot *snapshot;
	enum pss_source pss; /* of all that were chosen, shown or not */
	/* Rows are groups of processes that have this column in common; NULL: they are processes.
	 */
	const struct column *group;
	struct process *const *rows; /* shown, in order */
	size_t row_count;
	size_t others_count; /* matched and not shown */
	struct totals others;
	struct totals totals;	   /* shown and others */
	const struct delta *delta; /* since an earlier one; NULL: there is none */
};

/*
 * The first `shown` rows are shown, the others and all summed, and it is counted how many processes
 * that shows. `pruned`: as of totals_sum().
 */
void result_cut(struct result *r, struct collection *c, const struct rows *rows, size_t shown,
		bool pruned);

#endif
