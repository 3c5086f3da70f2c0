/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The tree of processes, in which each row has the sums of all below it, and its folds. Pure. */
#ifndef ZMEM_QUERY_TREE_H
#define ZMEM_QUERY_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "query/order.h"
#include "query/sums.h"

/* Rows of a tree that are folded: the rows below them are hidden. */
struct folds {
	struct fold {
		pid_t pid;
		uint64_t start_ns;
	} * item; /* sorted */
	size_t count, capacity;
};

bool folds_has(const struct folds *folds, const struct process *p);
/* Folds a row. Returns 0 or -ENOMEM. */
int folds_add(struct folds *folds, const struct process *p);
void folds_remove(struct folds *folds, const struct process *p);
/* Forgets processes that the snapshot does not have. */
void folds_prune(struct folds *folds, const struct snapshot *s);
void folds_done(struct folds *folds);

/*
 * Makes a row of each process, with the sums of it and of all rows below it. Parents stand before
 * their children, and children in the order asked for; names begin with the branches of the tree.
 * A process between two rows that is no row is skipped. Subtrees below `min` bytes
 * (order_at_least()) are left out, and so are the rows below a folded row, which has a mark before
 * its name. `folds`: NULL: none. Returns 0 or -ENOMEM.
 */
int tree_rows(const struct order *o, uint64_t min, const struct folds *folds,
	      const struct snapshot *s, const struct process_list *processes, struct sums *tree);

/*
 * Makes a row of each group by the first key, and below it rows by each further key. p->joined of a
 * row is the branch and the value of its last key. Else as tree_rows().
 */
int group_tree_rows(const struct field *key, const struct order *o, uint64_t min,
		    const struct snapshot *s, struct process_list *processes, struct sums *tree);

#endif
