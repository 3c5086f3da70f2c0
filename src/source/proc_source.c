// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The source of last resort: /proc/PID/stat and status, one process after the other. As exact as
 * /proc is on this kernel. Knows which file has what; the texts are parsed elsewhere.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "source/mm_sharing.h"
#include "source/status_fill.h"
#include "proc/stat.h"
#include "source/source.h"

struct proc_state {
	const struct procfs *proc;
};

struct collecting {
	const struct procfs *proc;
	struct snapshot *snapshot;
	struct mm_sharing mm;
};

static int proc_open(const struct procfs *proc, struct diag *diag, void **ret_state)
{
	struct proc_state *state;

	if (proc->fd < 0) {
		diag_add(diag, source_proc.name, -ENOENT, "mount -t proc proc /proc",
			 "there is no /proc");
		return -ENOENT;
	}
	state = malloc(sizeof(*state));
	if (!state)
		return -ENOMEM;
	state->proc = proc;
	*ret_state = state;
	return 0;
}

/* The executable's base name, else comm. A leader that has exited has left it to its threads. */
static const char *read_name(int pid_fd, struct arena *arena, const struct proc_stat *stat)
{
	bool exited = stat->state == 'Z' && stat->threads > 1;
	cleanup_close int thread = exited ? procfs_open_thread(pid_fd) : -1;
	char name[NAME_MAX + 1];
	ssize_t len = procfs_exe_name(thread >= 0 ? thread : pid_fd, name, sizeof(name));

	return len > 0 ? arena_strndup(arena, name, (size_t)len)
		       : arena_strndup(arena, stat->comm, strlen(stat->comm));
}

static int32_t read_oom_score_adj(int pid_fd)
{
	char text[16];
	ssize_t len = file_read(pid_fd, "oom_score_adj", text, sizeof(text));

	return len > 0 ? (int32_t)strtol(text, NULL, 10) : 0;
}

static void fill_identity(struct process *p, const struct proc_stat *stat)
{
	p->pid = stat->pid;
	p->ppid = stat->ppid;
	p->threads = stat->threads;
	p->start_ns = stat->start_ticks * NS_PER_TICK;
	memcpy(p->comm, stat->comm, sizeof(p->comm));
	p->forked = stat->flags & PROC_PF_FORKNOEXEC;
	p->counters_source = FROM_PROC;
}

/*
 * A process that is gone is none, and one that is hidden is counted (hidepid=1: its directory is
 * seen and nothing in it). That we have no more files or memory is an error.
 */
static int none_or(struct collecting *c, int error)
{
	bool denied = error == -EACCES || error == -EPERM;

	c->snapshot->collection.denied += denied;
	c->snapshot->collection.hidden |= denied;
	return denied || error == -ENOENT || error == -ESRCH ? 0 : error;
}

/* One process. One that is gone meanwhile is none. */
static int collect_dir(struct collecting *c, pid_t pid, int pid_fd)
{
	char text[1024];
	struct proc_stat stat;
	struct process *p;
	ssize_t len;
	int r;

	len = file_read(pid_fd, "stat", text, sizeof(text));
	if (len < 0)
		return none_or(c, (int)len);
	if (proc_stat_parse(text, (size_t)len, &stat) < 0)
		return 0;
	p = snapshot_add(c->snapshot);
	if (!p)
		return -ENOMEM;
	fill_identity(p, &stat);
	p->name = read_name(pid_fd, &c->snapshot->arena, &stat);
	if (!p->name)
		return -ENOMEM;
	p->oom_score_adj = read_oom_score_adj(pid_fd);
	if (stat.flags & PROC_PF_KTHREAD) {
		p->kind = PROCESS_KTHREAD;
		p->pss_status = PSS_KERNEL_THREAD;
		status_fill_uid(p, pid_fd);
		return 0;
	}
	r = status_fill(p, pid_fd);
	if (r < 0)
		return r;
	if (r == 0) {
		p->kind = PROCESS_ZOMBIE;
		p->pss_status = PSS_GONE;
		return 0;
	}
	return mm_sharing_add(&c->mm, pid, &stat);
}

static int collect_pid(void *arg, pid_t pid)
{
	struct collecting *c = arg;
	cleanup_close int pid_fd = procfs_open_pid(c->proc, pid);

	return pid_fd < 0 ? none_or(c, pid_fd) : collect_dir(c, pid, pid_fd);
}

static bool pid_1_is_hidden(const struct procfs *proc)
{
	struct stat st;

	return fstatat(proc->fd, "1", &st, 0) < 0 && errno == ENOENT;
}

static int proc_collect(void *state, unsigned readers, struct snapshot *snapshot)
{
	struct proc_state *s = state;
	struct collecting c = {.proc = s->proc, .snapshot = snapshot};
	int r;

	(void)readers; /* files are read by one */
	/* With hidepid=2 those of others are not even listed; pid 1 is always there. */
	snapshot->collection.hidden = pid_1_is_hidden(s->proc);
	r = procfs_each_pid(s->proc, collect_pid, &c);
	if (r == 0)
		mm_sharing_resolve(&c.mm, snapshot);
	mm_sharing_done(&c.mm);
	return r;
}

const struct source_ops source_proc = {
	.name = "proc",
	.origin = FROM_PROC,
	.open = proc_open,
	.collect = proc_collect,
	.close = free,
};
