// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Knows when a /proc/PID may be believed, and how each file below it is read. */
#include "enrich/target.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "enrich/maps_read.h"
#include "enrich/pool_text.h"

/*
 * Opens the directory in which the memory of the process is shown: /proc/PID, or that of a live
 * thread if the leader has exited. What is then read below the fd is that process's: a directory of
 * /proc follows the process, not the number. Returns the fd, -ESRCH if it is another one or gone,
 * -EXDEV if this /proc is not ours, or -errno.
 */
static int open_dir(const struct target *t)
{
	cleanup_close int fd = -1;
	int same;

	if (t->proc->fd < 0 || !t->proc->trusted)
		return -EXDEV;
	fd = procfs_open_pid(t->proc, t->pid);
	if (fd < 0)
		return fd;
	same = t->check_start ? procfs_same_start(t->proc, fd, t->start_ns) : 1;
	if (same <= 0)
		return same < 0 ? same : -ESRCH;
	return t->leader_exited ? procfs_open_thread(fd) : TAKE_FD(fd);
}

static void read_smaps(const struct target *t, int fd, struct pool_result *ret)
{
	const struct maps_request request = {fd,       t->pid, t->file == POOL_NAMES, t->has_rollup,
					     t->go_on, t->arg};
	struct map_set *maps = NULL;
	int r = maps_read(&request, &maps);

	pool_fail(ret, r);
	if (r == 0)
		*ret = (struct pool_result){.status = PSS_OK, .maps = maps};
}

static ssize_t read_text(const struct target *t, int fd, char *text, size_t cap)
{
	if (t->file == POOL_EXE)
		return procfs_exe_name(fd, text, cap);
	if (t->file == POOL_CMDLINE || t->file == POOL_PROGRAM)
		cap = POOL_CMDLINE_MAX + 1;
	return file_read(fd, pool_file_name(t->file), text, cap);
}

void target_read(const struct target *t, struct pool_result *ret)
{
	cleanup_close int fd = open_dir(t);
	char text[POOL_TEXT_MAX];

	if (fd < 0)
		pool_fail(ret, fd);
	else if (t->file == POOL_MAPS || t->file == POOL_NAMES)
		read_smaps(t, fd, ret);
	else
		pool_understand(t->file, text, read_text(t, fd, text, sizeof(text)), ret);
}
