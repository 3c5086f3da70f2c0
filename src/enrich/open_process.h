/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The way to /proc/PID of a process that was seen before. */
#ifndef ZMEM_ENRICH_OPEN_PROCESS_H
#define ZMEM_ENRICH_OPEN_PROCESS_H

#include "zmem/procfs.h"

/*
 * Opens /proc/PID, and makes sure it is the process that started at start_ns. What is then read
 * below the fd is that process's: a directory of /proc follows the process, not the number.
 * Returns the fd, -ESRCH if it is another one or gone, -EXDEV if this /proc is not ours, or -errno.
 */
int open_process(const struct procfs *proc, pid_t pid, uint64_t start_ns);

#endif
