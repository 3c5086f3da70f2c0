// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Compares the processes of a snapshot with the names in /proc, and with the pids of a filter. The
 * number of the machine's tasks decides whether /proc is listed, which would cost an eighth of a
 * snapshot without PSS.
 */
#include "collect/unseen.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

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

/* Counts the threads of the snapshot that began before it. */
static uint64_t threads_of(const struct snapshot *s)
{
	uint64_t threads = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct process *p = &s->process[i];
		uint32_t begun = p->pid == s->self ? s->threads_begun : 0;

		threads += p->threads > begun ? p->threads - begun : 0;
	}
	return threads;
}

/*
 * True if the machine had, or has, tasks that are neither in the snapshot nor in `more`. The kernel
 * gives numbers in their order, so the newest one says how many tasks began.
 */
static bool has_others(const struct procfs *proc, const struct unseen_start *start,
		       const struct snapshot *s, uint64_t more)
{
	const struct proc_load *before = &start->load;
	uint64_t threads = threads_of(s) + more;
	struct proc_load now;

	procfs_load(proc, &now);
	return !now.tasks || !before->tasks ||
	       now.last_pid != before->last_pid + s->threads_begun || now.tasks > threads ||
	       before->tasks > threads;
}

bool unseen_possible(const struct procfs *proc, const struct unseen_start *start,
		     const struct snapshot *s)
{
	return has_others(proc, start, s, 0);
}

/*
 * 1 if the process counts as unseen, 0 if not, or a negative errno without files or memory. Sets
 * *ret_threads to its threads; 0: it is gone, or they are not known.
 */
static int is_unseen(const struct search *search, pid_t pid, uint64_t *ret_threads)
{
	cleanup_close int fd = -1;
	struct proc_stat stat;
	int r;

	*ret_threads = 0;
	if (snapshot_find(search->seen, pid))
		return 0;
	fd = procfs_open_pid(search->proc, pid);
	r = fd < 0 ? fd : proc_stat_read(fd, "stat", &stat);
	if (file_exhausted(r))
		return r;
	/* hidepid=1 shows the pid alone. */
	if (r == -EACCES || r == -EPERM)
		return 1;
	if (r < 0)
		return 0;
	*ret_threads = stat.threads;
	if (stat.flags & PROC_PF_KTHREAD || stat.state == 'X' ||
	    (stat.state == 'Z' && stat.threads <= 1))
		return 0;
	return stat.start_ticks < search->start->ticks;
}

static int look_at(const struct search *search, pid_t pid, uint64_t *ret_threads)
{
	int r = is_unseen(search, pid, ret_threads);
	struct process *p;

	if (r <= 0)
		return r;
	p = snapshot_add(search->ret);
	if (!p)
		return -ENOMEM;
	p->pid = pid;
	return 0;
}

static int add_unseen(void *arg, pid_t pid)
{
	uint64_t threads;

	return look_at(arg, pid, &threads);
}

/*
 * Whether the process has this thread. Signal 0 is not sent, and only ESRCH says no, while EPERM is
 * about a thread that is there (do_send_specific() in kernel/signal.c).
 */
static bool has_thread(pid_t process, pid_t thread)
{
	return syscall(SYS_tgkill, process, thread, 0) == 0 || errno != ESRCH;
}

pid_t collect_process_of_thread(const struct snapshot *s, pid_t number)
{
	/* Also where a filter of system calls refuses the question. */
	if (has_thread(number, number))
		return 0;
	for (size_t i = 0; i < s->count; i++) {
		if (has_thread(s->process[i].pid, number))
			return s->process[i].pid;
	}
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

int unseen_parents(const struct procfs *proc, const struct unseen_start *start,
		   const struct snapshot *s, struct snapshot *ret)
{
	const struct search search = {proc, start, s, ret};
	uint64_t threads, more = 0;
	pid_t looked_at[UNSEEN_PARENTS_MAX];
	size_t count = 0;

	snapshot_clear(ret);
	for (size_t i = 0; i < s->count; i++) {
		pid_t pid = s->process[i].ppid;
		size_t k = 0;
		int r;

		/* Processes of one parent are mostly beside each other. */
		if (!pid || (i && pid == s->process[i - 1].ppid) || snapshot_find(s, pid))
			continue;
		while (k < count && looked_at[k] != pid)
			k++;
		if (k < count)
			continue;
		if (count == UNSEEN_PARENTS_MAX)
			return 0;
		looked_at[count++] = pid;
		r = look_at(&search, pid, &threads);
		if (r < 0)
			return r;
		more += threads;
	}
	return count && !has_others(proc, start, s, more);
}

int unseen_drop(const struct procfs *proc, const struct unseen_start *start,
		const struct snapshot *again, struct snapshot *unseen)
{
	const struct search search = {proc, start, again, NULL};
	size_t kept = 0;

	for (size_t i = 0; i < unseen->count; i++) {
		uint64_t threads;
		int r = is_unseen(&search, unseen->process[i].pid, &threads);

		if (r < 0)
			return r;
		if (r)
			unseen->process[kept++] = unseen->process[i];
	}
	unseen->count = kept;
	return 0;
}

/* Asks BPF once more for these processes alone: they may have been in fork or in exec. */
static int recheck(struct collector *c, const struct unseen_start *start)
{
	cleanup(arena_release) struct arena_mark mark = arena_mark(&c->snapshot.scratch);
	struct process **row = arena_zalloc(mark.arena, c->unseen.count, sizeof(*row));
	int r;

	if (!row)
		return -ENOMEM;
	for (size_t i = 0; i < c->unseen.count; i++)
		row[i] = &c->unseen.process[i];
	r = source_collect_some(c->source, row, c->unseen.count, &c->again[0]);
	return r < 0 ? r : unseen_drop(&c->proc, start, &c->again[0], &c->unseen);
}

int unseen_count(struct collector *c, const struct filter *f, const struct unseen_start *start)
{
	struct collection *found = &c->snapshot.collection;
	int r;

	found->not_seen = 0;
	memset(found->not_seen_pid, 0, sizeof(found->not_seen_pid));
	/* A snapshot from /proc has all that /proc shows. */
	found->not_seen_known = source_origin(c->source) == FROM_PROC && !found->hidden;
	if (!start)
		return 0;
	found->not_seen_known = true;
	if (!unseen_possible(&c->proc, start, &c->snapshot))
		return 0;
	r = f->pid_count ? 0 : unseen_parents(&c->proc, start, &c->snapshot, &c->unseen);
	if (r == 0)
		r = unseen_find(&c->proc, start, &c->snapshot, f, &c->unseen);
	if (r >= 0 && c->unseen.count)
		r = recheck(c, start);
	if (r < 0)
		return r;
	found->not_seen = (uint32_t)c->unseen.count;
	for (size_t i = 0; i < c->unseen.count && i < NOT_SEEN_PIDS; i++)
		found->not_seen_pid[i] = c->unseen.process[i].pid;
	found->not_seen_known = found->not_seen || procfs_shows_all(&c->proc);
	found->complete &= !found->not_seen;
	return 0;
}

/* ---- one process ---- */

const char *collect_why_no_memory(const struct procfs *proc, pid_t pid)
{
	cleanup_close int fd = procfs_open_pid(proc, pid);
	struct proc_stat stat;

	if (fd < 0 || proc_stat_read(fd, "stat", &stat) < 0)
		return "there is no such process";
	if (stat.flags & PROC_PF_KTHREAD)
		return "it is a kernel thread, which has no memory of its own";
	/* If other threads go on, it has memory. */
	if (stat.state == 'Z' && stat.threads <= 1)
		return "it has ended, and has no memory any more";
	return "the kernel does not show it to BPF";
}

/* ---- pids of the filter ---- */

static enum collect_absence why_missing(const struct collector *c, pid_t pid, pid_t *ret_process)
{
	cleanup_close int fd = -1;

	if (!collector_replays(c)) {
		*ret_process = collect_process_of_thread(&c->snapshot, pid);
		if (*ret_process)
			return COLLECT_THREAD;
	}
	if (collector_no_proc(c) && (kill(pid, 0) == 0 || errno == EPERM))
		return COLLECT_NOT_IN_NAMESPACE;
	if (c->proc.trusted && c->proc.fd >= 0)
		fd = procfs_open_pid(&c->proc, pid);
	if (fd < 0)
		return COLLECT_NO_PROCESS;
	/* A security module may hide a process from BPF but not from /proc. */
	return source_origin(c->source) == FROM_BPF ? COLLECT_NOT_IN_BPF : COLLECT_NOT_IN_PROC;
}

/* Only in the first snapshot: later, processes may have ended. */
int collect_find_missing(struct collector *c, const struct filter *f)
{
	if (c->looked_for_missing || !f->pid_count)
		return 0;
	c->missing = calloc(f->pid_count, sizeof(*c->missing));
	if (!c->missing)
		return -ENOMEM;
	c->looked_for_missing = true;
	for (size_t i = 0; i < f->pid_count; i++) {
		struct collect_missing *m;

		if ((i && f->pids[i] == f->pids[i - 1]) || snapshot_find(&c->snapshot, f->pids[i]))
			continue;
		m = &c->missing[c->missing_count++];
		m->pid = f->pids[i];
		m->why = why_missing(c, m->pid, &m->process);
	}
	return 0;
}
