/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * To set and to remove probes, the kernel takes the mmap_lock of each process that maps the file,
 * while no process of the machine can fork (register_for_each_vma(), kernel/events/uprobes.c). A
 * process that keeps its lock, because a FUSE or NFS server does not answer, would stop all forks.
 * So it is looked for first. It may still come in the moment between.
 */
#ifndef ZMEM_HEAP_HELD_LOCKS_H
#define ZMEM_HEAP_HELD_LOCKS_H

#include "watch/grow_watch.h"

/* The process that keeps its lock. */
struct lock_holder {
	pid_t pid; /* 0: it is in another pid namespace */
	char comm[ZMEM_COMM_LEN + 1];
};

struct lock_holder_text {
	char s[64];
};

/* "process 123 (name)" */
struct lock_holder_text lock_holder_text(const struct lock_holder *h);

/*
 * Waits until each lock of a process that maps a file was free, or another thread had it, at one
 * moment; at most `wait_us`, and not when hurry_fd (-1: none) is readable. `mapping`: of
 * grow_watch_heap_mapping(); 0: any process counts. Returns 0, 1 and a process that has kept its
 * lock all the time, or a negative errno.
 */
int held_locks_wait(struct grow_watch *w, uint64_t mapping, uint64_t wait_us, int hurry_fd,
		    struct lock_holder *ret);

#endif
