// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The source of last resort: /proc/PID/stat and status, one process after the other. As exact as
 * /proc is on this kernel. Knows which file has what; the texts are parsed elsewhere.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

	if (proc->fd < 0 && !tape_playing(proc->tape)) {
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
static const char *read_name(const struct proc_dir *dir, struct arena *arena,
			     const struct proc_stat *stat)
{
	bool exited = stat->state == 'Z' && stat->threads > 1;
	char name[NAME_MAX + 1];
	ssize_t len = proc_dir_exe_name(dir, exited, name, sizeof(name));

	return len > 0 ? arena_strndup(arena, name, (size_t)len)
		       : arena_strndup(arena, stat->comm, strlen(stat->comm));
}

static int32_t read_oom_score_adj(const struct proc_dir *dir)
{
	char text[16];
	ssize_t len = proc_dir_read(dir, "oom_score_adj", text, sizeof(text));

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
static int collect_dir(struct collecting *c, const struct proc_dir *dir)
{
	char text[1024];
	struct proc_stat stat;
	struct process *p;
	ssize_t len;
	int r;

	len = proc_dir_read(dir, "stat", text, sizeof(text));
	if (len < 0)
		return none_or(c, (int)len);
	if (proc_stat_parse(text, (size_t)len, &stat) < 0)
		return 0;
	p = snapshot_add(c->snapshot);
	if (!p)
		return -ENOMEM;
	fill_identity(p, &stat);
	p->name = read_name(dir, &c->snapshot->arena, &stat);
	if (!p->name)
		return -ENOMEM;
	p->oom_score_adj = read_oom_score_adj(dir);
	if (stat.flags & PROC_PF_KTHREAD) {
		p->kind = PROCESS_KTHREAD;
		p->pss_status = PSS_KERNEL_THREAD;
		status_fill_uid(p, dir);
		return 0;
	}
	r = status_fill(p, dir);
	if (r < 0)
		return r;
	if (r == 0) {
		p->kind = PROCESS_ZOMBIE;
		p->pss_status = PSS_GONE;
		return 0;
	}
	return mm_sharing_add(&c->mm, dir->pid, &stat);
}

static int collect_pid(void *arg, pid_t pid)
{
	struct collecting *c = arg;
	struct proc_dir dir;
	int r = proc_dir_open(c->proc, pid, "stat", &dir);

	if (r < 0)
		return none_or(c, r);
	r = collect_dir(c, &dir);
	proc_dir_close(&dir);
	return r;
}

/* Who shares an address space is in no file, so what was found out is taken down as it is. */
static void keep_mm(const struct procfs *proc, const struct snapshot *snapshot)
{
	tape_put_u64(proc->tape, "mm_unknown", snapshot->collection.shared_mm_unknown);
	for (size_t i = 0; tape_recording(proc->tape) && i < snapshot->count; i++) {
		const struct process *p = &snapshot->process[i];
		char key[32];

		snprintf(key, sizeof(key), "%d/mm", p->pid);
		if (p->mm_key)
			tape_put_u64(proc->tape, key, p->mm_key);
	}
}

static void play_mm(const struct procfs *proc, struct snapshot *snapshot)
{
	uint64_t unknown = 0;

	tape_next_u64(proc->tape, "mm_unknown", &unknown);
	snapshot->collection.shared_mm_unknown = unknown;
	for (size_t i = 0; i < snapshot->count; i++) {
		struct process *p = &snapshot->process[i];
		char key[32];

		snprintf(key, sizeof(key), "%d/mm", p->pid);
		tape_next_u64(proc->tape, key, &p->mm_key);
	}
}

static bool pid_1_is_hidden(const struct procfs *proc)
{
	uint64_t hidden = 0;
	struct stat st;

	if (tape_playing(proc->tape))
		return tape_next_u64(proc->tape, "1/hidden", &hidden) && hidden;
	hidden = fstatat(proc->fd, "1", &st, 0) < 0 && errno == ENOENT;
	tape_put_u64(proc->tape, "1/hidden", hidden);
	return hidden;
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
	if (r == 0 && tape_playing(s->proc->tape))
		play_mm(s->proc, snapshot);
	else if (r == 0)
		mm_sharing_resolve(&c.mm, snapshot);
	if (r == 0)
		keep_mm(s->proc, snapshot);
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
