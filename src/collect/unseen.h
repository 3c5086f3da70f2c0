/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Processes without a row: those that /proc shows and BPF does not, because a security module, or a
 * sandbox, may hide a task from the iterator alone (the sums then lack its memory); and those that
 * the filter names.
 */
#ifndef ZMEM_COLLECT_UNSEEN_H
#define ZMEM_COLLECT_UNSEEN_H

#include "collect/collector_state.h"
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
 * meanwhile that is no reader of the snapshot. Such a task may hide a missing one in the sum of
 * threads.
 */
bool unseen_possible(const struct procfs *proc, const struct unseen_start *start,
		     const struct snapshot *s);
/*
 * Looks up the parents that have no row. A hidden process has mostly started others, such as that
 * of a sandbox, and those have rows. Replaces the processes of `ret` as unseen_find() does.
 * Returns 1 if, with their threads, nothing else can be missing; 0 if /proc has to be listed; or a
 * negative errno.
 */
#define UNSEEN_PARENTS_MAX 16
int unseen_parents(const struct procfs *proc, const struct unseen_start *start,
		   const struct snapshot *s, struct snapshot *ret);
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
/*
 * Counts the processes that BPF does not show. `start`: NULL if BPF is not compared with /proc.
 * Returns 0 or a negative errno.
 */
int unseen_count(struct collector *c, const struct filter *f, const struct unseen_start *start);

/*
 * The process of the snapshot that this number is a thread of; 0: of none. Asks the kernel, without
 * /proc and with any rights, so the snapshot must be of this machine and pid namespace.
 */
pid_t collect_process_of_thread(const struct snapshot *s, pid_t number);
/* Why BPF found no memory of this process, in words. A constant text. */
const char *collect_why_no_memory(const struct procfs *proc, pid_t pid);
/* Finds the pids of the filter that have no row, once. Returns 0 or -ENOMEM. */
int collect_find_missing(struct collector *c, const struct filter *f);

#endif
