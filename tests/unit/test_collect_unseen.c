// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The comparison of a snapshot with the names in /proc, on a /proc that the test makes. */
#include "unit.h"

#include "collect/unseen.h"
#include "proc/status.h"
#include "proc_tree.h"

#define START_TICKS 1000
#define LAST_PID    4000

struct fixture {
	struct proc_tree tree;
	struct snapshot seen, unseen;
	struct unseen_start start;
};

static void put_process(const struct fixture *s, pid_t pid, char state, unsigned flags,
			unsigned threads, unsigned start_ticks)
{
	char dir[64], name[32], text[256];

	snprintf(dir, sizeof(dir), "%s/%d", s->tree.dir, pid);
	mkdir(dir, 0755);
	snprintf(name, sizeof(name), "%d/stat", pid);
	snprintf(text, sizeof(text),
		 "%d (a) b) %c 1 1 1 0 -1 %u 0 0 0 0 0 0 0 0 20 0 %u 0 %u 4096 1 "
		 "18446744073709551615 1 1 140000000 0 0 0\n",
		 pid, state, flags, threads, start_ticks);
	proc_tree_put(&s->tree, name, text, strlen(text));
}

static void put_tasks(const struct fixture *s, unsigned tasks, unsigned last_pid)
{
	char text[64];

	snprintf(text, sizeof(text), "0.1 0.2 0.3 1/%u %u\n", tasks, last_pid);
	proc_tree_put(&s->tree, "loadavg", text, strlen(text));
}

static void see(struct snapshot *seen, pid_t pid, uint32_t threads)
{
	struct process *p = snapshot_add(seen);

	assert_non_null(p);
	p->pid = pid;
	p->threads = threads;
}

/* /proc has the processes 1, 20 and 30; BPF saw 20 and 30. */
static void begin(struct fixture *s)
{
	*s = (struct fixture){.start = {.load = {LAST_PID, 4}, .ticks = START_TICKS}};
	proc_tree_init(&s->tree);
	put_process(s, 1, 'S', 0, 1, 0);
	put_process(s, 20, 'S', 0, 2, 50);
	put_process(s, 30, 'R', 0, 1, 60);
	see(&s->seen, 20, 2);
	see(&s->seen, 30, 1);
	put_tasks(s, 4, LAST_PID);
}

static void end(struct fixture *s)
{
	snapshot_done(&s->seen);
	snapshot_done(&s->unseen);
	proc_tree_done(&s->tree);
}

FIXTURE(begin, end)

static size_t find(struct fixture *s, const struct filter *f)
{
	assert_int_equal(unseen_find(&s->tree.proc, &s->start, &s->seen, f, &s->unseen), 0);
	return s->unseen.count;
}

FIXTURE_TEST(tasks)
{
	assert_true(unseen_possible(&f->tree.proc, &f->start, &f->seen));
	/* As many tasks as threads: nothing is missing. */
	put_tasks(f, 3, LAST_PID);
	f->start.load.tasks = 3;
	assert_false(unseen_possible(&f->tree.proc, &f->start, &f->seen));
	/* A task that began after the reading, or one that ended since. */
	put_tasks(f, 4, LAST_PID);
	assert_true(unseen_possible(&f->tree.proc, &f->start, &f->seen));
	put_tasks(f, 2, LAST_PID);
	f->start.load.tasks = 4;
	assert_true(unseen_possible(&f->tree.proc, &f->start, &f->seen));
	/* A task that began meanwhile may stand for one that is missing. */
	put_tasks(f, 3, LAST_PID + 1);
	f->start.load.tasks = 3;
	assert_true(unseen_possible(&f->tree.proc, &f->start, &f->seen));
	put_tasks(f, 3, LAST_PID);
	assert_false(unseen_possible(&f->tree.proc, &f->start, &f->seen));
	/* Threads that read the snapshot began meanwhile: alone, and with another task. */
	f->seen.self = 20;
	f->seen.threads_begun = 1;
	assert_true(unseen_possible(&f->tree.proc, &f->start, &f->seen));
	f->seen.process[0].threads++;
	put_tasks(f, 3, LAST_PID + 1);
	assert_false(unseen_possible(&f->tree.proc, &f->start, &f->seen));
	put_tasks(f, 3, LAST_PID + 2);
	assert_true(unseen_possible(&f->tree.proc, &f->start, &f->seen));
	/* They do not stand for a missing one. */
	f->start.load.tasks = 4;
	put_tasks(f, 4, LAST_PID + 1);
	assert_true(unseen_possible(&f->tree.proc, &f->start, &f->seen));
	f->start.load.tasks = 3;
	f->seen.process[0].threads--;
	f->seen.threads_begun = 0;
	/* The number is not known. */
	f->start.load.tasks = 0;
	assert_true(unseen_possible(&f->tree.proc, &f->start, &f->seen));
}

static int parents(struct fixture *s)
{
	return unseen_parents(&s->tree.proc, &s->start, &s->seen, &s->unseen);
}

FIXTURE_TEST(parents)
{
	/* Nothing names the one that is missing. */
	assert_int_equal(parents(f), 0);
	/* Its threads are all that the machine has more. */
	f->seen.process[1].ppid = 1;
	assert_int_equal(parents(f), 1);
	assert_int_equal(f->unseen.count, 1);
	assert_int_equal(f->unseen.process[0].pid, 1);
	/* There is another one, now or before, or a task that began meanwhile. */
	put_tasks(f, 5, LAST_PID);
	assert_int_equal(parents(f), 0);
	put_tasks(f, 4, LAST_PID);
	f->start.load.tasks = 5;
	assert_int_equal(parents(f), 0);
	f->start.load.tasks = 4;
	put_tasks(f, 4, LAST_PID + 1);
	assert_int_equal(parents(f), 0);
	/* One with threads of its own, and one that is gone. */
	put_process(f, 1, 'S', 0, 3, 0);
	put_tasks(f, 6, LAST_PID);
	f->start.load.tasks = 6;
	f->seen.process[0].ppid = 99;
	assert_int_equal(parents(f), 1);
	assert_int_equal(f->unseen.count, 1);
	/* A kernel thread does not count, but its thread does. */
	put_process(f, 99, 'S', PROC_PF_KTHREAD, 1, 0);
	assert_int_equal(parents(f), 1);
	put_tasks(f, 7, LAST_PID);
	f->start.load.tasks = 7;
	assert_int_equal(parents(f), 1);
	assert_int_equal(f->unseen.count, 1);
}

FIXTURE_TEST(missing)
{
	const struct filter all = {};

	assert_int_equal(find(f, &all), 1);
	assert_int_equal(f->unseen.process[0].pid, 1);
	/* Kernel threads, the ended, and those that began later. */
	put_process(f, 40, 'S', PROC_PF_KTHREAD, 1, 0);
	put_process(f, 41, 'Z', 0, 1, 70);
	put_process(f, 42, 'X', 0, 1, 70);
	put_process(f, 43, 'R', 0, 1, START_TICKS);
	put_process(f, 44, 'R', 0, 1, START_TICKS + 5);
	assert_int_equal(find(f, &all), 1);
	/* A leader that has exited before its threads, and one just before the reading. */
	put_process(f, 45, 'Z', 0, 3, 70);
	put_process(f, 46, 'D', 0, 1, START_TICKS - 1);
	assert_int_equal(find(f, &all), 3);
}

FIXTURE_TEST(pids)
{
	pid_t some[] = {20, 20, 99}, one[] = {1, 1, 30};
	const struct filter seen = {.pids = some, .pid_count = 3};
	const struct filter unseen = {.pids = one, .pid_count = 3};

	assert_int_equal(find(f, &seen), 0);
	assert_int_equal(find(f, &unseen), 1);
}

FIXTURE_TEST(again)
{
	const struct filter all = {};
	struct snapshot again = {};

	put_process(f, 50, 'S', 0, 1, 70);
	put_process(f, 51, 'S', 0, 1, 70);
	assert_int_equal(find(f, &all), 3);
	/* One was only late, one ends. */
	see(&again, 50, 1);
	put_process(f, 51, 'Z', 0, 1, 70);
	assert_int_equal(unseen_drop(&f->tree.proc, &f->start, &again, &f->unseen), 0);
	assert_int_equal(f->unseen.count, 1);
	assert_int_equal(f->unseen.process[0].pid, 1);
	snapshot_done(&again);
}

FIXTURE_TEST(hidden)
{
	assert_true(procfs_shows_all(&f->tree.proc));
	assert_int_equal(unlinkat(f->tree.proc.fd, "1/stat", 0), 0);
	assert_int_equal(unlinkat(f->tree.proc.fd, "1", AT_REMOVEDIR), 0);
	assert_false(procfs_shows_all(&f->tree.proc));
}
