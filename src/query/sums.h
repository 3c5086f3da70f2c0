/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sums over rows, and rows that are such sums. What was not measured is not guessed. Pure. */
#ifndef ZMEM_QUERY_SUMS_H
#define ZMEM_QUERY_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "fields/row.h"
#include "model/process_list.h"

/*
 * Whether sums count the row: of processes one for each address space (mm_owner). A process without
 * memory does not count, nor a sum of such.
 */
bool totals_counts(const struct process *p);
/* A value that no row has, or that pruning left unread (`pruned`), is absent. */
void totals_sum(const struct row *rows, size_t count, bool pruned, struct totals *ret_totals);

/* A sum of rows, or of other sums (in a tree, from the leaves up). */
struct sum {
	struct totals totals;		 /* so far; `have` is not set */
	counter_mask some, all;		 /* counters that some rows have, that all rows have */
	counter_mask with_pss;		 /* that all rows with PSS have: page tables tell less than
					    smaps_rollup */
	counter_mask beyond;		 /* sums that overflowed, or would count memory twice */
	counter_mask partial;		 /* sums of which a row is a lower bound */
	size_t rows;			 /* that count */
	const struct process *uncounted; /* one of those that do not */
	uint64_t uncounted_freed;	 /* FREED of all those */
	bool uncounted_differ;		 /* their statuses do */
	/* PSS_OK, or why a value of one of the rows that count is not known (process_status()). */
	enum pss_status pss_status, status[VALUE_KINDS];
	bool is_group; /* FREED of its rows adds up, as it was read for the group */
};

#define SUM_EMPTY                                                                                  \
	((struct sum){.all = ~(counter_mask)0,                                                     \
		      .with_pss = ~(counter_mask)0,                                                \
		      .pss_status = PSS_OK,                                                        \
		      .status = {[0 ... VALUE_KINDS - 1] = PSS_OK}})

/* Only counters of processes: cgroups may lie in one another, so their values have no sum. */
void sum_add(struct sum *sum, const struct process *p);
void sum_merge(struct sum *sum, const struct sum *more);

/* The place for what a row points to: its PSS by node, and its parts of KERNEL. */
struct sum_parts {
	struct node_shares nodes;
	struct kernel_shares kernel;
};

/* Makes a row that stands for what was summed. */
void sum_row(const struct sum *sum, struct sum_parts *parts, struct row *r);

/* Rows that stand for several processes each. Their memory is used again. */
struct sums {
	struct process *item;
	struct charges *charged; /* of each item, if it is a group */
	struct rows rows;	 /* those that are shown, in order */
	struct sum_parts *parts; /* of each item */
	size_t capacity;
	unsigned idle;		/* how often in a row far fewer were needed (base/array.h) */
	struct tree_node *node; /* of a tree */
	struct process_list sorted;
	struct arena text; /* names that no process has */
};

/* Forgets the rows and makes room for `count`. Returns 0 or -ENOMEM. */
int sums_reserve(struct sums *sums, size_t count);
void sums_done(struct sums *sums);

#endif
