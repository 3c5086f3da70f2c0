/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which processes of /proc share an address space (vfork, CLONE_VM). No file says it; kcmp(2) does
 * for a pair, and where the stack and the program lie tells which pairs are worth asking.
 */
#ifndef ZMEM_SOURCE_MM_SHARING_H
#define ZMEM_SOURCE_MM_SHARING_H

#include <stddef.h>

#include "proc/stat.h"
#include "model/snapshot.h"

struct mm_sharing_entry {
	pid_t pid;
	uint64_t start_stack;
	uint64_t vsize;
};

struct mm_sharing {
	struct mm_sharing_entry *entry;
	size_t count, capacity;
};

/* Returns 0 or -ENOMEM. */
int mm_sharing_add(struct mm_sharing *s, pid_t pid, const struct proc_stat *stat);
/*
 * Sets mm_key of the processes added: the pid of the first with that address space. Where the
 * kernel does not tell (no kcmp, no right to), each counts as having its own.
 */
void mm_sharing_resolve(struct mm_sharing *s, struct snapshot *snapshot);
void mm_sharing_done(struct mm_sharing *s);

#endif
