/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the processes that /proc shows and BPF does not: a security module, or a sandbox, may hide
 * a task from the iterator alone. The sums then lack its memory.
 */
#ifndef ZMEM_COLLECT_UNSEEN_H
#define ZMEM_COLLECT_UNSEEN_H

#include "model/snapshot.h"
#include "proc/procfs.h"
#include "query/filter.h"

/* The machine before its processes are read. */
struct unseen_start {
	struct proc_load load; /* its tasks are those of all pid namespaces */
	uint64_t ticks;	       /* since boot, as start times in /proc */
};

void unseen_begin(const struct procfs *proc, struct unseen_start *ret);
/*
 * True if processes may be missing: the threads of the snapshot are fewer than the machine's tasks,
 * before or after the reading (in a pid namespace there are always fewer), or a task began
 * meanwhile, which may stand for a missing one in the sum of threads.
 */
bool unseen_possible(const struct procfs *proc, const struct unseen_start *start,
		     const struct snapshot *s);
/*
 * Replaces the processes of `ret` with those that /proc shows and `s` does not have, by their pid;
 * with pids in the filter, only these are looked up. Does not count: kernel threads, processes that
 * ended, and processes that started after the reading. Returns 0 or a negative errno.
 */
int unseen_find(const struct procfs *proc, const struct unseen_start *start,
		const struct snapshot *s, const struct filter *f, struct snapshot *ret);
/* Removes the processes that `again` has, or that have ended. Returns 0 or a negative errno. */
int unseen_drop(const struct procfs *proc, const struct unseen_start *start,
		const struct snapshot *again, struct snapshot *unseen);
/* False if /proc hides processes (hidepid): then a comparison says little. */
bool unseen_can_tell(const struct procfs *proc);

#endif
