// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Our own /proc, a captured tree, and a /proc of another pid namespace. */
#include "test_proc.h"

#include <pthread.h>
#include <sys/wait.h>

#include "proc/status.h"
#include "proc_tree.h"

#define TREE	FIXTURES "/proctree"
#define TICK_NS 10000000u
#define THREADS 4
#define ROUNDS	200

TEST(open)
{
	struct procfs proc;

	assert_int_equal(procfs_open(&proc, "/proc"), 0);
	assert_true(proc.trusted);
	assert_int_equal(proc.start_offset_ticks, 0);
	assert_true(fcntl(proc.fd, F_GETFD) & FD_CLOEXEC);
	procfs_close(&proc);
	assert_int_equal(proc.fd, -1);
	assert_false(proc.trusted);
	procfs_close(&proc);

	assert_int_equal(procfs_open(&proc, TREE), 0);
	assert_false(proc.trusted);
	procfs_close(&proc);
	/* No proc is mounted: a directory without "self". */
	assert_int_equal(procfs_open(&proc, FIXTURES "/proc"), -ENOENT);
	assert_int_equal(proc.fd, -1);
	assert_int_equal(procfs_open(&proc, TREE "/none"), -ENOENT);
	assert_int_equal(procfs_open(&proc, TREE "/meminfo"), -ENOTDIR);
	assert_int_equal(proc.fd, -1);
	assert_int_equal(procfs_open_pid(&proc, 1), -EBADF);
}

/* A /proc of an outer namespace is not ours, even if our pid is the same there. */
TEST(same_number_elsewhere)
{
	static const char *const pids[] = {"", "\nNSpid:\t%d", "\nNSpid:\t%d\t1"};
	cleanup(proc_tree_done) struct proc_tree t;
	struct procfs proc;

	proc_tree_init(&t);
	proc_tree_sh(&t, "mkdir %d && ln -s %d self", getpid(), getpid());
	for (size_t levels = 0; levels < ARRAY_SIZE(pids); levels++) {
		char own[32], status[128];

		snprintf(own, sizeof(own), pids[levels], getpid());
		snprintf(status, sizeof(status), "Name:\tx\nNStgid:\t1\t2%s\nNSsid:\t1\t2\n", own);
		proc_tree_put_text(&t, "self/status", status);
		assert_int_equal(procfs_open(&proc, t.dir), 0);
		assert_int_equal(proc.trusted, levels < 2);
		procfs_close(&proc);
	}
}

TEST(open_pid)
{
	struct procfs proc;
	char text[64];
	pid_t child;
	int fd;

	assert_int_equal(procfs_open(&proc, TREE), 0);
	fd = procfs_open_pid(&proc, 812);
	assert_true(fd >= 0);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_true(fcntl(fd, F_GETFL) & O_PATH);
	assert_int_equal(file_read(fd, "oom_score_adj", text, sizeof(text)), 4);
	assert_string_equal(text, "500\n");
	close(fd);
	assert_int_equal(procfs_open_pid(&proc, 3), -ESRCH);
	assert_int_equal(procfs_open_pid(&proc, -1), -ESRCH);
	assert_int_equal(procfs_open_pid(&proc, 99), -ENOTDIR);
	procfs_close(&proc);

	assert_int_equal(procfs_open(&proc, "/proc"), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		_exit(0);
	fd = procfs_open_pid(&proc, child);
	assert_true(fd >= 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	/* An open directory never becomes that of another process. */
	assert_false(procfs_same_start(&proc, fd, 0));
	assert_true(file_read(fd, "stat", text, sizeof(text)) < 0);
	close(fd);
	procfs_close(&proc);
}

struct pids {
	int count;
	pid_t stop_at;
	uint64_t product;
};

static int see(void *arg, pid_t pid)
{
	struct pids *pids = arg;

	errno = EIO; /* must not be mistaken for an error of readdir */
	pids->count++;
	pids->product += (uint64_t)pid * (uint64_t)pid;
	return pid == pids->stop_at ? 42 : 0;
}

#define TREE_PIDS 6
#define SQUARE(n) ((uint64_t)(n) * (n))
static const uint64_t tree_product =
	SQUARE(1) + SQUARE(2) + SQUARE(17) + SQUARE(812) + SQUARE(813) + SQUARE(4194305);

/* Neither files ("99") nor "0812", "12a" and numbers that are not pids. */
TEST(each_pid)
{
	struct procfs proc;
	struct pids pids = {0};

	assert_int_equal(procfs_open(&proc, TREE), 0);
	for (int i = 0; i < 3; i++) {
		pids = (struct pids){0};
		assert_int_equal(procfs_each_pid(&proc, see, &pids), 0);
		assert_int_equal(pids.count, TREE_PIDS);
		assert_true(pids.product == tree_product);
	}
	pids = (struct pids){.stop_at = 812};
	assert_int_equal(procfs_each_pid(&proc, see, &pids), 42);
	procfs_close(&proc);
	assert_int_equal(procfs_each_pid(&proc, see, &pids), -EBADF);

	assert_int_equal(procfs_open(&proc, "/proc"), 0);
	pids = (struct pids){.stop_at = getpid()};
	assert_int_equal(procfs_each_pid(&proc, see, &pids), 42);
	procfs_close(&proc);
}

static void *each_pid_thread(void *arg)
{
	const struct procfs *proc = arg;
	intptr_t wrong = 0;

	for (int i = 0; i < ROUNDS; i++) {
		struct pids pids = {0};

		if (procfs_each_pid(proc, see, &pids) != 0 || pids.count != TREE_PIDS ||
		    pids.product != tree_product)
			wrong++;
	}
	return (void *)wrong;
}

TEST(each_pid_threads)
{
	struct procfs proc;
	pthread_t thread[THREADS];

	assert_int_equal(procfs_open(&proc, TREE), 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, each_pid_thread, &proc), 0);
	for (int i = 0; i < THREADS; i++) {
		void *wrong;

		assert_int_equal(pthread_join(thread[i], &wrong), 0);
		assert_null(wrong);
	}
	procfs_close(&proc);
}

/* 812 started at tick 123456. */
TEST(same_start)
{
	const uint64_t start = (uint64_t)123456 * TICK_NS, tick = TICK_NS;
	const struct {
		pid_t pid;
		int64_t offset;
		uint64_t start_ns;
		bool same;
	} cases[] = {
		{812, 0, start, true},
		{812, 0, start + tick - 1, true},
		{812, 0, start + tick, false},
		{812, 0, start - 1, false},
		/* In a time namespace: the kernel's start time differs from that of this /proc. */
		{812, 3456, start - 3456 * tick, true},
		{812, -1000, start + 1000 * tick, true},
		{812, 3456, start - 3455 * tick, true},
		{812, 3456, start - 3454 * tick, false},
		{812, 3456, start, false},
		{812, INT64_MAX, UINT64_MAX, false},
		{812, INT64_MIN, 0, false},
		/* Measured: at tick 25, in a time namespace 100 s back. */
		{813, -10000, 25 * tick, true},
		{813, -10000, 28 * tick, false},
		/* No such process. */
		{4194305, 0, 0, false},
	};
	struct procfs proc;

	assert_int_equal(procfs_open(&proc, TREE), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_close int fd = procfs_open_pid(&proc, cases[i].pid);

		assert_true(fd >= 0);
		proc.start_offset_ticks = cases[i].offset;
		assert_int_equal(procfs_same_start(&proc, fd, cases[i].start_ns), cases[i].same);
	}
	procfs_close(&proc);
}

/* Of this process; then the kernel's start time is 500 ticks after that in this /proc. */
TEST(learn_start_offset)
{
	char text[2048];
	struct procfs proc;
	struct proc_stat stat;
	ssize_t n = file_read(AT_FDCWD, "/proc/self/stat", text, sizeof(text));
	uint64_t start;
	int fd;

	assert_true(n > 0);
	assert_int_equal(proc_stat_parse(text, (size_t)n, &stat), 0);
	start = stat.start_ticks * TICK_NS;
	assert_int_equal(procfs_open(&proc, "/proc"), 0);
	fd = procfs_open_pid(&proc, getpid());
	assert_true(fd >= 0);
	assert_true(procfs_same_start(&proc, fd, start));
	assert_false(procfs_same_start(&proc, fd, start + TICK_NS));
	assert_false(procfs_same_start(&proc, -1, start));
	assert_false(procfs_same_start(&proc, fd, start + 500 * (uint64_t)TICK_NS));
	procfs_learn_start_offset(&proc, start + 500 * (uint64_t)TICK_NS);
	assert_int_equal(proc.start_offset_ticks, -500);
	assert_true(procfs_same_start(&proc, fd, start + 500 * (uint64_t)TICK_NS));
	assert_false(procfs_same_start(&proc, fd, start));
	close(fd);
	procfs_close(&proc);

	/* The self of a foreign /proc is another process. */
	assert_int_equal(procfs_open(&proc, TREE), 0);
	procfs_learn_start_offset(&proc, start);
	assert_int_equal(proc.start_offset_ticks, 0);
	procfs_close(&proc);
}
