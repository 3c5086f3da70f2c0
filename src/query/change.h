/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What processes, or groups of them, held in two snapshots: what grew, began and ended. Pure. */
#ifndef ZMEM_QUERY_CHANGE_H
#define ZMEM_QUERY_CHANGE_H

#include "fields/process_fields.h"
#include "model/change.h"
#include "model/process_list.h"

/* Processes of a snapshot. */
struct change_side {
	const struct snapshot *snapshot; /* in order of pid; NULL: there is none */
	const struct process_list *rows; /* NULL: all of the snapshot */
};

/*
 * Sums the counters of the mask, of the processes that totals count (totals_counts(), sums.h).
 * `key`: NULL makes an item of each process. A process is the same in both snapshots if its pid,
 * its start and the boot of the machine are the same. Returns 0 or -ENOMEM.
 */
int group_changes_make(const struct change_side *before, const struct change_side *after,
		       const struct field *key, counter_mask counters, struct group_changes *ret);
/* Sorts by what they hold afterwards, most first. */
void group_changes_by_size(struct group_changes *g);
/* Sorts by the amount of the change, up or down, most first. */
void group_changes_by_amount(struct group_changes *g);
/*
 * Returns how many of the first `count` items, sorted by amount, changed by `least` bytes or more;
 * `count` if none did.
 */
size_t group_changes_large(const struct group_changes *g, size_t count, uint64_t least);
/* Adds up the items from `first` on, up to, but not including, `end`. */
void group_changes_sum(const struct group_changes *g, size_t first, size_t end,
		       struct group_change *ret);
void group_changes_done(struct group_changes *g);

#endif
