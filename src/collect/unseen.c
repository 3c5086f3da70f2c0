// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Compares the processes of a snapshot with the names in /proc. The number of the machine's tasks
 * decides whether /proc is listed, which would cost some percent of a snapshot.
 */
#include "collect/unseen.h"
#include "collect/collector.h"

#include <errno.h>
#include <sys/stat.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "proc/status.h"

#define US_PER_TICK (NS_PER_TICK / 1000)

struct search {
	const struct procfs *proc;
	const struct unseen_start *start;
	const struct snapshot *seen;
	struct snapshot *ret;
};

void unseen_begin(const struct procfs *proc, struct unseen_start *ret)
{
	/* Both are of our time namespace. */
	ret->ticks = clock_us(CLOCK_BOOTTIME) / US_PER_TICK;
	procfs_load(proc, &ret->load);
}

bool unseen_possible(const struct procfs *proc, const struct unseen_start *start,
		     const struct snapshot *s)
{
	const struct proc_load *before = &start->load;
	struct proc_load now;
	uint64_t threads = 0;

	procfs_load(proc, &now);
	for (size_t i = 0; i < s->count; i++)
		threads += s->process[i].threads;
	return !now.tasks || !before->tasks || now.last_pid != before->last_pid ||
	       now.tasks > threads || before->tasks > threads;
}

/* 1 if the process counts as unseen, 0 if not, or a negative errno without files or memory. */
static int is_unseen(const struct search *search, pid_t pid)
{
	cleanup_close int fd = -1;
	struct proc_stat stat;
	char text[2048];
	ssize_t n;

	if (snapshot_find(search->seen, pid))
		return 0;
	fd = procfs_open_pid(search->proc, pid);
	n = fd < 0 ? fd : file_read(fd, "stat", text, sizeof(text));
	if (file_exhausted((int)n))
		return (int)n;
	/* hidepid=1 shows the pid alone. */
	if (n == -EACCES || n == -EPERM)
		return 1;
	if (n < 0 || proc_stat_parse(text, (size_t)n, &stat) < 0)
		return 0;
	if (stat.flags & PROC_PF_KTHREAD || stat.state == 'X' ||
	    (stat.state == 'Z' && stat.threads <= 1))
		return 0;
	return stat.start_ticks < search->start->ticks;
}

static int add_unseen(void *arg, pid_t pid)
{
	const struct search *search = arg;
	int r = is_unseen(search, pid);
	struct process *p;

	if (r <= 0)
		return r;
	p = snapshot_add(search->ret);
	if (!p)
		return -ENOMEM;
	p->pid = pid;
	return 0;
}

int unseen_find(const struct procfs *proc, const struct unseen_start *start,
		const struct snapshot *s, const struct filter *f, struct snapshot *ret)
{
	struct search search = {proc, start, s, ret};
	int r = 0;

	snapshot_clear(ret);
	if (!f->pid_count)
		return procfs_each_pid(proc, add_unseen, &search);
	for (size_t i = 0; r == 0 && i < f->pid_count; i++) {
		/* The directory of a thread opens as well, and its process is seen. */
		if ((i && f->pids[i] == f->pids[i - 1]) || collect_process_of_thread(s, f->pids[i]))
			continue;
		r = add_unseen(&search, f->pids[i]);
	}
	return r;
}

int unseen_drop(const struct procfs *proc, const struct unseen_start *start,
		const struct snapshot *again, struct snapshot *unseen)
{
	const struct search search = {proc, start, again, NULL};
	size_t kept = 0;

	for (size_t i = 0; i < unseen->count; i++) {
		int r = is_unseen(&search, unseen->process[i].pid);

		if (r < 0)
			return r;
		if (r)
			unseen->process[kept++] = unseen->process[i];
	}
	unseen->count = kept;
	return 0;
}

bool unseen_can_tell(const struct procfs *proc)
{
	struct stat st;

	/* Each pid namespace has a pid 1. */
	return fstatat(proc->fd, "1", &st, 0) == 0;
}
