/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The way to /proc/PID of a process that was seen before. */
#ifndef ZMEM_ENRICH_OPEN_PROCESS_H
#define ZMEM_ENRICH_OPEN_PROCESS_H

#include "zmem/procfs.h"
#include "zmem/snapshot.h"

/*
 * Opens the directory in which the memory of p is shown: /proc/PID, or that of a live thread if the
 * leader has exited; and makes sure it is the process that was seen. What is then read below the fd
 * is that process's: a directory of /proc follows the process, not the number.
 * Returns the fd, -ESRCH if it is another one or gone, -EXDEV if this /proc is not ours, or -errno.
 */
int open_process(const struct procfs *proc, const struct process *p);

/* The same for one that is known by these three alone. */
int open_process_by(const struct procfs *proc, pid_t pid, uint64_t start_ns, bool leader_exited);

#endif
