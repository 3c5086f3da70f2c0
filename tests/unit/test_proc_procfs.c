// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Our own /proc, a captured tree, and a /proc of another pid namespace. */
#include "test_proc.h"

#include <pthread.h>
#include <sys/wait.h>

#include "proc/status.h"
#include "proc/procfs.h"

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
	assert_int_equal(proc.fd, -1);
	assert_int_equal(procfs_open(&proc, TREE "/meminfo"), -ENOTDIR);
	assert_int_equal(proc.fd, -1);
	assert_int_equal(procfs_open_pid(&proc, 1), -EBADF);
}

static void write_file(const char *dir, const char *name, const char *text)
{
	char path[4096];
	cleanup_close int fd = -1;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(file_write_fd(fd, text, strlen(text)), 0);
}

/* A /proc of an outer namespace is not ours, even if our pid is the same there. */
TEST(same_number_elsewhere)
{
	char dir[] = "/tmp/zmem-proc-XXXXXX", path[64], status[128], self[16];
	struct procfs proc;

	assert_non_null(mkdtemp(dir));
	snprintf(self, sizeof(self), "%d", getpid());
	snprintf(path, sizeof(path), "%s/%s", dir, self);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/self", dir);
	assert_int_equal(symlink(self, path), 0);

	for (int levels = 0; levels <= 2; levels++) {
		snprintf(status, sizeof(status), "Name:\tx\nNStgid:\t1\t2\n%s%s%s\nNSsid:\t1\t2\n",
			 levels ? "NSpid:\t" : "", levels ? self : "", levels > 1 ? "\t1" : "");
		write_file(path, "status", status);
		assert_int_equal(procfs_open(&proc, dir), 0);
		assert_int_equal(proc.trusted, levels < 2);
		procfs_close(&proc);
	}
	snprintf(path, sizeof(path), "%s/self/status", dir);
	unlink(path);
	snprintf(path, sizeof(path), "%s/%s", dir, self);
	rmdir(path);
	snprintf(path, sizeof(path), "%s/self", dir);
	unlink(path);
	assert_int_equal(rmdir(dir), 0);
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

static bool same_start(pid_t pid, int64_t offset, uint64_t start_ns)
{
	struct procfs proc;
	bool same;
	int fd;

	assert_int_equal(procfs_open(&proc, TREE), 0);
	proc.start_offset_ticks = offset;
	fd = procfs_open_pid(&proc, pid);
	assert_true(fd >= 0);
	same = procfs_same_start(&proc, fd, start_ns);
	close(fd);
	procfs_close(&proc);
	return same;
}

/* 812 started at tick 123456. */
TEST(same_start)
{
	const uint64_t start = (uint64_t)123456 * TICK_NS;

	assert_true(same_start(812, 0, start));
	assert_true(same_start(812, 0, start + TICK_NS - 1));
	assert_false(same_start(812, 0, start + TICK_NS));
	assert_false(same_start(812, 0, start - 1));
	/* In a time namespace: the kernel's start time differs from that of this /proc. */
	assert_true(same_start(812, 3456, start - 3456ull * TICK_NS));
	assert_true(same_start(812, -1000, start + 1000ull * TICK_NS));
	assert_true(same_start(812, 3456, start - 3455ull * TICK_NS));
	assert_false(same_start(812, 3456, start - 3454ull * TICK_NS));
	assert_false(same_start(812, 3456, start));
	assert_false(same_start(812, INT64_MAX, UINT64_MAX));
	assert_false(same_start(812, INT64_MIN, 0));
	/* Measured: at tick 25, in a time namespace 100 s back. */
	assert_true(same_start(813, -10000, 25ull * TICK_NS));
	assert_false(same_start(813, -10000, 28ull * TICK_NS));
	/* No such process. */
	assert_false(same_start(4194305, 0, 0));
}

TEST(same_start_live)
{
	char text[2048];
	struct procfs proc;
	struct proc_stat stat;
	ssize_t n;
	int fd;

	assert_int_equal(procfs_open(&proc, "/proc"), 0);
	fd = procfs_open_pid(&proc, getpid());
	assert_true(fd >= 0);
	n = file_read(fd, "stat", text, sizeof(text));
	assert_true(n > 0);
	assert_int_equal(proc_stat_parse(text, (size_t)n, &stat), 0);
	assert_true(procfs_same_start(&proc, fd, stat.start_ticks * TICK_NS));
	assert_false(procfs_same_start(&proc, fd, (stat.start_ticks + 1) * TICK_NS));
	assert_false(procfs_same_start(&proc, -1, stat.start_ticks * TICK_NS));
	close(fd);
	procfs_close(&proc);
}

/* The kernel's start time is 500 ticks after that in this /proc. */
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
	start = (stat.start_ticks + 500) * TICK_NS;

	assert_int_equal(procfs_open(&proc, "/proc"), 0);
	fd = procfs_open_pid(&proc, getpid());
	assert_true(fd >= 0);
	assert_false(procfs_same_start(&proc, fd, start));
	procfs_learn_start_offset(&proc, start);
	assert_int_equal(proc.start_offset_ticks, -500);
	assert_true(procfs_same_start(&proc, fd, start));
	assert_false(procfs_same_start(&proc, fd, start - 500 * (uint64_t)TICK_NS));
	close(fd);
	procfs_close(&proc);

	/* The self of a foreign /proc is another process. */
	assert_int_equal(procfs_open(&proc, TREE), 0);
	procfs_learn_start_offset(&proc, start);
	assert_int_equal(proc.start_offset_ticks, 0);
	procfs_close(&proc);
}
