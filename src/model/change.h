/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a process, or a group of them, held in two snapshots. */
#ifndef ZMEM_MODEL_CHANGE_H
#define ZMEM_MODEL_CHANGE_H

#include "model/snapshot.h"

/* A group, by the text of a column, or one process. The text belongs to one of the snapshots. */
struct group_change {
	const char *group;	       /* NULL: processes without that text, or one process */
	const struct process *process; /* the newer state of the one process; NULL: a group */
	const struct process *member;  /* one of the group, which has its keys; NULL: a process */
	/* Without those that the other snapshot may lack: it was cut (snapshot_is_cut()). */
	uint32_t procs_before, procs_after;
	uint32_t known_before, known_after; /* those with values in the sums */
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
/* "grew", "shrank", "began", "ended", "same"; NULL: not known. */
const char *change_state_name(enum change_state state);

#endif
