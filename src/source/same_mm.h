/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which processes of /proc share an address space (vfork, CLONE_VM). No file says it; kcmp(2) does
 * for a pair, and where the stack and the program lie tells which pairs are worth asking.
 */
#ifndef ZMEM_SOURCE_SAME_MM_H
#define ZMEM_SOURCE_SAME_MM_H

#include <stddef.h>

#include "zmem/proc_stat.h"
#include "zmem/snapshot.h"

struct same_mm_entry {
	pid_t pid;
	uint64_t start_stack;
	uint64_t vsize;
};

struct same_mm {
	struct same_mm_entry *entry;
	size_t count, capacity;
};

/* Returns 0 or -ENOMEM. */
int same_mm_add(struct same_mm *s, pid_t pid, const struct proc_stat *stat);
/*
 * Sets mm_key of the processes added: the pid of the first with that address space. Where the
 * kernel does not tell (no kcmp, no right to), each counts as having its own.
 */
void same_mm_resolve(struct same_mm *s, struct snapshot *snapshot);
void same_mm_done(struct same_mm *s);

#endif
