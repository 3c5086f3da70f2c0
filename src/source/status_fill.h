/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counters of one process from /proc/PID/status: all of them, or those the kernel side lacks. */
#ifndef ZMEM_SOURCE_STATUS_FILL_H
#define ZMEM_SOURCE_STATUS_FILL_H

#include "proc/procfs.h"
#include "model/snapshot.h"

/*
 * Reads below the directory of the process (procfs_open_pid()). Sets the counters that p does not
 * have, the effective uid, and counters_source if the resident set is among them. Of a leader that
 * exited, its live threads are asked. Returns 1, 0 if the process has no memory (any more), or a
 * negative errno if we have no files or memory left to tell.
 */
int status_fill(struct process *p, int pid_fd);

/* The counters that status can have. */
counter_mask status_counters(void);

/* Only the uid. */
void status_fill_uid(struct process *p, int pid_fd);

#endif
