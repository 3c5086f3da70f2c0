/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a command found and a renderer shows. It borrows everything it points to. */
#ifndef ZMEM_RESULT_H
#define ZMEM_RESULT_H

#include "query/account.h"
#include "query/delta.h"
#include "query/query.h"
#include "model/snapshot.h"

struct result {
	const struct snapshot *snapshot;
	enum pss_source pss; /* of all that were chosen, shown or not */
	/* Rows are groups that have this column in common; NULL: they are processes. */
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

/* The machine, and what the sums of the processes leave of it. */
struct system_report {
	const struct result *balance; /* the residuals, and the snapshot */
	struct account account;
	size_t processes;     /* with memory of their own; each address space once */
	size_t pss_missing;   /* of them without PSS */
	bool swap_used_known; /* bytes, from here on */
	bool swap_pss_known;
	bool swap_shmem_known;
	bool unattributed_known;
	bool pss_anon_known, pss_mapped_known; /* to be compared with AnonPages, Mapped */
	uint64_t swap_used;
	uint64_t swap_pss;   /* of all processes */
	uint64_t swap_shmem; /* likewise; shared memory counts for each process that maps it */
	uint64_t unattributed;
	uint64_t pss_anon, pss_mapped;
};

#endif
