/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What processes, or groups of them, held in two snapshots: what grew, began and ended. Pure. */
#ifndef ZMEM_QUERY_CHANGE_H
#define ZMEM_QUERY_CHANGE_H

#include "fields/process_fields.h"
#include "model/process_list.h"

/* A group, by the text of a column, or one process. The text belongs to one of the snapshots. */
struct group_change {
	const char *group;	       /* NULL: processes without that text, or one process */
	const struct process *process; /* the newer state of the one process; NULL: a group */
	/* Without those that the other snapshot may lack: it was cut (snapshot_is_cut()). */
	uint32_t procs_before, procs_after;
	uint32_t known_before, known_after; /* those whose values are in the sums */
	/*
	 * Processes that lack one of the counters in a snapshot, or were not seen in it. None of
	 * their values is in the sums, so that the difference of the sums is a change of memory
	 * alone.
	 */
	uint32_t missing;
	uint64_t before, after;
};

struct group_changes {
	struct group_change *item; /* by change, largest growth first */
	size_t count;
	struct group_change total; /* the sum of all items */
};

static inline int64_t group_change_of(const struct group_change *c)
{
	return (int64_t)(c->after - c->before);
}

/* Whether there are only processes that one snapshot may have left out. */
static inline bool group_change_is_cut(const struct group_change *c)
{
	return c->missing && !c->procs_before && !c->procs_after;
}

/* Whether the value of a side is known: it has no process, or the value of one. */
static inline bool group_change_has_before(const struct group_change *c)
{
	return c->known_before || (!c->procs_before && !group_change_is_cut(c));
}

static inline bool group_change_has_after(const struct group_change *c)
{
	return c->known_after || (!c->procs_after && !group_change_is_cut(c));
}

enum change_state {
	CHANGE_SAME,
	CHANGE_GREW,
	CHANGE_SHRANK,
	CHANGE_BEGAN,
	CHANGE_ENDED,
	CHANGE_UNKNOWN, /* a value was not measured */
};

enum change_state group_change_state(const struct group_change *c);

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
 * Of the first `count` items, sorted by amount, the number of those that changed by `least` bytes
 * or more; `count` if there is none.
 */
size_t group_changes_large(const struct group_changes *g, size_t count, uint64_t least);
/* Adds up the items from `first` on, up to, but not including, `end`. */
void group_changes_sum(const struct group_changes *g, size_t first, size_t end,
		       struct group_change *ret);
void group_changes_done(struct group_changes *g);

#endif
