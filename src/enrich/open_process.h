/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The way to /proc/PID of a process that was seen before. */
#ifndef ZMEM_ENRICH_OPEN_PROCESS_H
#define ZMEM_ENRICH_OPEN_PROCESS_H

#include "zmem/procfs.h"

/*
 * Opens the directory in which the memory of a process is shown: /proc/PID, or that of a live
 * thread if the leader has exited. With check_start it makes sure that it is the process that
 * started then. What is then read below the fd is that process's: a directory of /proc follows the
 * process, not the number. Returns the fd, -ESRCH if it is another one or gone, -EXDEV if this
 * /proc is not ours, or -errno.
 */
int open_process(const struct procfs *proc, pid_t pid, uint64_t start_ns, bool check_start,
		 bool leader_exited);

#endif
