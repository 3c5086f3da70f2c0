// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The source of kind proc: /proc/PID/stat and status, one process after the other. It is as exact
 * as /proc is on this kernel. Other sources read what they lack from status (status_fill()).
 */
#include <errno.h>
#include <limits.h>
#include <linux/kcmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "proc/status.h"
#include "source/source_internal.h"

/* ---- counters from status ---- */

static const struct {
	enum status_counter key;
	enum counter counter;
} status_map[] = {
	{STATUS_VM_SIZE, COUNTER_VSIZE},     {STATUS_VM_LCK, COUNTER_LOCKED},
	{STATUS_VM_PIN, COUNTER_PINNED},     {STATUS_RSS_ANON, COUNTER_RSS_ANON},
	{STATUS_RSS_FILE, COUNTER_RSS_FILE}, {STATUS_RSS_SHMEM, COUNTER_RSS_SHMEM},
	{STATUS_VM_PTE, COUNTER_PGTABLES},   {STATUS_VM_SWAP, COUNTER_SWAP},
	{STATUS_HUGETLB, COUNTER_HUGETLB},   {STATUS_VM_HWM, COUNTER_PEAK},
};

counter_mask status_counters(void)
{
	counter_mask mask = 0;

	for (size_t i = 0; i < ARRAY_SIZE(status_map); i++)
		mask |= COUNTER_BIT(status_map[i].counter);
	return mask;
}

void status_apply(struct process *p, const struct proc_status *status)
{
	for (size_t i = 0; i < ARRAY_SIZE(status_map); i++) {
		if (!process_has(p, status_map[i].counter) && status_has(status, status_map[i].key))
			process_set(p, status_map[i].counter, status->value[status_map[i].key]);
	}
}

/*
 * Below an open directory, or the error of opening it. Returns 1, 0 without a status, or a negative
 * errno if that is not known.
 */
static int read_status(int dir, struct proc_status *ret)
{
	char text[8192];
	ssize_t len = dir < 0 ? dir : file_read(dir, "status", text, sizeof(text));

	if (file_exhausted((int)len))
		return (int)len;
	return len > 0 && proc_status_parse(text, (size_t)len, ret) == 0;
}

/* For a process without its leader: any live thread shows all its memory. */
static int read_thread_status(int pid_fd, struct proc_status *ret)
{
	cleanup_close int fd = procfs_open_thread(pid_fd);
	int r = read_status(fd, ret);

	return r > 0 ? ret->have != 0 : r;
}

int status_fill(struct process *p, int pid_fd)
{
	bool had_rss = process_has(p, COUNTER_RSS_ANON);
	struct proc_status status;
	int r = read_status(pid_fd, &status);

	if (r <= 0)
		return r;
	p->uid = status.euid;
	if (!status.have) {
		r = read_thread_status(pid_fd, &status);
		if (r <= 0)
			return r;
		p->leader_exited = true;
	}
	status_apply(p, &status);
	if (!had_rss && process_has(p, COUNTER_RSS_ANON))
		p->counters_source = FROM_PROC;
	return 1;
}

void stat_fill(struct process *p, int pid_fd)
{
	struct proc_stat stat;

	if (!process_has(p, COUNTER_MAJFLT) && proc_stat_read(pid_fd, "stat", &stat) == 0)
		process_set(p, COUNTER_MAJFLT, stat.majflt);
}

/*
 * ---- processes that share an mm (vfork, CLONE_VM) ----
 *
 * No file shows it; kcmp(2) does for a pair. Only processes with the same stack address and size
 * can share an mm. Sorting them by kcmp's order takes n log n calls.
 */

struct mm_sharing_entry {
	pid_t pid;
	uint32_t row; /* of the snapshot */
	uint64_t start_stack;
	uint64_t vsize;
};

struct mm_sharing {
	struct mm_sharing_entry *entry;
	size_t count, capacity;
};

static int compare_layout(const void *pa, const void *pb)
{
	const struct mm_sharing_entry *a = pa, *b = pb;

	if (a->start_stack != b->start_stack)
		return ORDER_OF(a->start_stack, b->start_stack);
	return a->vsize == b->vsize ? ORDER_OF(a->pid, b->pid) : ORDER_OF(a->vsize, b->vsize);
}

/* 0 for the same mm, else an order that is stable while both live; by pid where kcmp fails. */
static int compare_mm(const void *pa, const void *pb)
{
	const struct mm_sharing_entry *a = pa, *b = pb;
	long r = syscall(SYS_kcmp, a->pid, b->pid, KCMP_VM, 0, 0);

	if (r < 0 || r > 2)
		return ORDER_OF(a->pid, b->pid);
	return r == 1 ? -1 : r == 2;
}

/*
 * Sets mm_key of the processes added: the pid of the first one with that mm. Where the kernel does
 * not tell (no kcmp, no permission), each process counts as having its own.
 */
static void mm_sharing_resolve(struct mm_sharing *s, struct snapshot *snapshot)
{
	struct mm_sharing_entry *e = s->entry;
	size_t end;

	if (!s->count)
		return;
	qsort(e, s->count, sizeof(*e), compare_layout);
	for (size_t i = 0; i < s->count; i = end) {
		pid_t key = 0;

		end = i + 1;
		while (end < s->count && e[end].start_stack == e[i].start_stack &&
		       e[end].vsize == e[i].vsize)
			end++;
		/* A layout of 0 is hidden from us; kcmp would be refused as well. */
		if (end - i > 1 && e[i].start_stack)
			qsort(e + i, end - i, sizeof(*e), compare_mm);
		for (size_t k = i; k < end; k++) {
			/* A process with a hidden layout may share its mm with any other. */
			snapshot->collection.shared_mm_unknown |= !e[k].start_stack;
			if (k == i || !e[k].start_stack || compare_mm(&e[k - 1], &e[k]) != 0)
				key = e[k].pid;
			snapshot->process[e[k].row].mm_key = (uint64_t)key;
		}
	}
}

/* ---- the source ---- */

struct collecting {
	const struct procfs *proc;
	struct snapshot *snapshot;
	struct mm_sharing mm;
};

static int proc_open(const struct source_variant *variant, const struct procfs *proc,
		     const struct memo_plan *memos, struct diag *diag, void **ret_state)
{
	(void)memos;
	if (proc->fd < 0) {
		diag_add(diag, variant->name, -ENOENT, "mount -t proc proc /proc",
			 "there is no /proc");
		return -ENOENT;
	}
	*ret_state = (void *)proc;
	return 0;
}

/* The executable's base name, else comm. If the leader has exited, its threads have the name. */
static const char *read_name(int pid_fd, struct arena *arena, const struct proc_stat *stat,
			     struct process *p)
{
	bool exited = stat->state == 'Z' && stat->threads > 1;
	cleanup_close int thread = exited ? procfs_open_thread(pid_fd) : -1;
	char name[NAME_MAX + 1];
	bool deleted = false;
	ssize_t len = procfs_exe_name(thread >= 0 ? thread : pid_fd, name, sizeof(name), &deleted);

	if (len > 0)
		p->exe = deleted ? EXE_DELETED : EXE_PRESENT;
	else if (len == -EACCES || len == -EPERM)
		p->status[VALUE_EXE] = PSS_DENIED;
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
 * A process that is gone is no error. A hidden one is counted (hidepid=1: its directory is seen,
 * and nothing in it). Running out of files or memory is an error.
 */
static int count_unreadable(struct collecting *c, int error)
{
	bool denied = error == -EACCES || error == -EPERM;

	c->snapshot->collection.denied += denied;
	c->snapshot->collection.hidden |= denied;
	return denied || error == -ENOENT || error == -ESRCH ? 0 : error;
}

/* Reads one process. Returns 0 if it is gone. */
static int collect_dir(struct collecting *c, pid_t pid, int pid_fd)
{
	char text[1024];
	struct proc_status status;
	struct proc_stat stat;
	struct process *p;
	ssize_t len;
	int r;

	len = file_read(pid_fd, "stat", text, sizeof(text));
	if (len < 0)
		return count_unreadable(c, (int)len);
	if (proc_stat_parse(text, (size_t)len, &stat) < 0)
		return 0;
	p = snapshot_add(c->snapshot);
	if (!p)
		return -ENOMEM;
	fill_identity(p, &stat);
	p->name = read_name(pid_fd, &c->snapshot->arena, &stat, p);
	if (!p->name)
		return -ENOMEM;
	p->oom_score_adj = read_oom_score_adj(pid_fd);
	if (stat.flags & PROC_PF_KTHREAD) {
		p->kind = PROCESS_KTHREAD;
		p->pss_status = PSS_KERNEL_THREAD;
		if (read_status(pid_fd, &status) > 0)
			p->uid = status.euid;
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
	process_set(p, COUNTER_MAJFLT, stat.majflt);
	if (!array_room(&c->mm.entry, c->mm.count, &c->mm.capacity, 256))
		return -ENOMEM;
	c->mm.entry[c->mm.count++] = (struct mm_sharing_entry){
		.pid = pid,
		.row = (uint32_t)(p - c->snapshot->process),
		.start_stack = stat.start_stack,
		.vsize = stat.vsize,
	};
	return 0;
}

static int collect_pid(void *arg, pid_t pid)
{
	struct collecting *c = arg;
	cleanup_close int pid_fd = procfs_open_pid(c->proc, pid);

	return pid_fd < 0 ? count_unreadable(c, pid_fd) : collect_dir(c, pid, pid_fd);
}

static int proc_collect(void *state, unsigned readers, struct snapshot *snapshot)
{
	struct collecting c = {.proc = state, .snapshot = snapshot};
	int r;

	(void)readers; /* one thread reads the files */
	snapshot->collection.hidden = !procfs_shows_all(c.proc);
	r = procfs_each_pid(c.proc, collect_pid, &c);
	if (r == 0)
		mm_sharing_resolve(&c.mm, snapshot);
	free(c.mm.entry);
	return r;
}

static void proc_close(void *state)
{
	(void)state; /* the caller's procfs */
}

const struct source_kind source_kind_proc = {
	.origin = FROM_PROC,
	.open = proc_open,
	.collect = proc_collect,
	.close = proc_close,
};
