// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Knows when a /proc/PID may be believed. */
#include <errno.h>

#include "base/cleanup.h"
#include "enrich/open_process.h"

int open_process(const struct procfs *proc, pid_t pid, uint64_t start_ns, bool check_start,
		 bool leader_exited)
{
	cleanup_close int fd = -1;
	int same;

	if (proc->fd < 0 || !proc->trusted)
		return -EXDEV;
	fd = procfs_open_pid(proc, pid);
	if (fd < 0)
		return fd;
	same = check_start ? procfs_same_start(proc, fd, start_ns) : 1;
	if (same <= 0)
		return same < 0 ? same : -ESRCH;
	return leader_exited ? procfs_open_thread(fd) : TAKE_FD(fd);
}
