/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which processes of snapshots are of a tree: those that were added, and all their descendants. */
#ifndef ZMEM_COLLECT_PEAK_SAMPLE_H
#define ZMEM_COLLECT_PEAK_SAMPLE_H

#include "model/peak.h"
#include "model/snapshot.h"

struct peak_member {
	struct peak_process row;
	uint64_t start_ns;
	struct peak_bytes now;
	bool added;
	bool seen; /* in this snapshot */
};

struct peak_tree {
	struct peak_member *member;
	size_t count, capacity;
};

/* Returns 0 or -ENOMEM. */
int peak_tree_add(struct peak_tree *t, pid_t pid);
/*
 * Finds the members in a snapshot: a child of a member is one, too, and stays one.
 * Their memory now, and its sum. Returns 0 or -ENOMEM. Pure.
 */
int peak_tree_update(struct peak_tree *t, const struct snapshot *s, struct peak_bytes *ret_sum,
		     uint32_t *ret_live);
/* True if none of those that were added is in the last snapshot. */
bool peak_tree_ended(const struct peak_tree *t);
void peak_tree_done(struct peak_tree *t);

#endif
