// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Opens a /proc, finds out which pid namespace it shows, and lists its processes. Parses only the
 * files that identify a process.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"
#include "model/system.h"
#include "proc/keyed.h"
#include "proc/procfs.h"
#include "proc/status.h"

/*
 * NSpid lists our pid in this /proc's namespace and in every one below, down to our own: more than
 * one means that the two are not the same namespace, even if the numbers happen to agree
 * (task_state(), fs/proc/array.c). Before 4.1 there is no such line.
 */
static bool below_other_namespace(int proc_fd)
{
	char text[8192];
	ssize_t n = file_read(proc_fd, "self/status", text, sizeof(text));
	struct keyed_line line;

	if (n <= 0)
		return false;
	for (const char *pos = text, *end = text + n; keyed_next(&pos, end, &line);) {
		uint64_t pid;
		int count = 0;

		if (!part_is(line.key, "NSpid"))
			continue;
		for (const char *p = line.value; scan_u64(&p, line.end, &pid);)
			count++;
		return count > 1;
	}
	return false;
}

static bool self_is_us(int proc_fd)
{
	char link[32];
	ssize_t n = readlinkat(proc_fd, "self", link, sizeof(link));
	uint64_t pid;

	if (n <= 0 || parse_u64(link, (size_t)n, INT_MAX, &pid) < 0)
		return false;
	return (pid_t)pid == getpid() && !below_other_namespace(proc_fd);
}

int procfs_open(struct procfs *proc, const char *path)
{
	cleanup_close int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	*proc = (struct procfs){.fd = -1};
	/* An empty directory, where nothing is mounted, has no "self" of any namespace. */
	if (fd < 0 || fstatat(fd, "self", &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	proc->trusted = self_is_us(fd);
	proc->fd = TAKE_FD(fd);
	return 0;
}

void procfs_close(struct procfs *proc)
{
	close_fd(&proc->fd);
	*proc = (struct procfs){.fd = -1};
}

ssize_t procfs_read(const struct procfs *proc, const char *name, char *buf, size_t cap)
{
	return proc->fd < 0 ? -ENOENT : file_read(proc->fd, name, buf, cap);
}

void procfs_load(const struct procfs *proc, struct proc_load *ret)
{
	char text[128];
	ssize_t len = procfs_read(proc, "loadavg", text, sizeof(text));

	*ret = (struct proc_load){};
	if (len <= 0)
		return;
	ret->last_pid = loadavg_parse_last_pid(text, (size_t)len);
	ret->tasks = loadavg_parse_tasks(text, (size_t)len);
}

bool procfs_shows_all(const struct procfs *proc)
{
	struct stat st;

	/* Each pid namespace has a pid 1. */
	return fstatat(proc->fd, "1", &st, 0) == 0;
}

int procfs_open_pid(const struct procfs *proc, pid_t pid)
{
	char name[16];
	int fd;

	snprintf(name, sizeof(name), "%d", pid);
	fd = openat(proc->fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	return fd;
}

/* The pid of a directory entry, 0 if it is no process. */
static pid_t entry_pid(const struct dirent *entry)
{
	uint64_t pid;

	if ((entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN) || entry->d_name[0] == '0' ||
	    parse_u64(entry->d_name, strlen(entry->d_name), INT_MAX, &pid) < 0)
		return 0;
	return (pid_t)pid;
}

/* Calls fn for each number among the names of a directory below dirfd. */
static int each_number(int dirfd, const char *path, int (*fn)(void *arg, pid_t pid), void *arg)
{
	/* Not a dup, which would share its position with all other readers. */
	cleanup_closedir DIR *dir = dir_open(dirfd, path);

	if (!dir)
		return -errno;
	for (;;) {
		const struct dirent *entry;
		pid_t pid;
		int r;

		errno = 0;
		entry = readdir(dir);
		if (!entry)
			return -errno;
		pid = entry_pid(entry);
		if (pid == 0)
			continue;
		r = fn(arg, pid);
		if (r != 0)
			return r;
	}
}

int procfs_each_pid(const struct procfs *proc, int (*fn)(void *arg, pid_t pid), void *arg)
{
	return each_number(proc->fd, ".", fn, arg);
}

int procfs_each_thread(const struct procfs *proc, pid_t pid, int (*fn)(void *arg, pid_t tid),
		       void *arg)
{
	char path[32];

	snprintf(path, sizeof(path), "%d/task", pid);
	return each_number(proc->fd, path, fn, arg);
}

struct thread_search {
	int pid_fd;
	int found_fd;
};

static int is_alive(void *arg, pid_t tid)
{
	struct thread_search *search = arg;
	cleanup_close int fd = -1;
	struct proc_stat stat = {};
	char name[24];
	int r;

	snprintf(name, sizeof(name), "task/%d", tid);
	fd = openat(search->pid_fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	r = fd < 0 ? -errno : proc_stat_read(fd, "stat", &stat);
	if (file_exhausted(r))
		return r;
	if (r < 0 || stat.state == 'Z' || stat.state == 'X')
		return 0;
	search->found_fd = TAKE_FD(fd);
	return 1;
}

int procfs_open_thread(int pid_fd)
{
	struct thread_search search = {pid_fd, -1};
	int r;

	r = each_number(pid_fd, "task", is_alive, &search);
	if (file_exhausted(r))
		return r;
	return search.found_fd >= 0 ? search.found_fd : -ESRCH;
}

#ifndef AT_STATX_DONT_SYNC /* of linux/stat.h; musl has it since 1.2.5 */
#define AT_STATX_DONT_SYNC 0x4000
#endif

/*
 * Whether a file is really there under this path of the process. Looks only at what the kernel has
 * in memory, so that no file system of others can make us wait: where it has not, before 5.12 and
 * on network file systems, the answer is no.
 */
static bool exe_is_at(int pid_fd, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_CACHED,
	};
	cleanup_close int root = openat(pid_fd, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_close int fd =
		root < 0 ? -1 : (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	struct stat at, exe;

	/* newfstatat(2) takes the flag as statx(2) does (vfs_statx() in fs/stat.c). */
	return fd >= 0 && fstatat(fd, "", &at, AT_EMPTY_PATH | AT_STATX_DONT_SYNC) == 0 &&
	       fstatat(pid_fd, "exe", &exe, AT_STATX_DONT_SYNC) == 0 && at.st_ino == exe.st_ino &&
	       at.st_dev == exe.st_dev;
}

ssize_t procfs_exe_name(int pid_fd, char *buf, size_t cap, bool *ret_deleted)
{
	/* d_path() appends it to unlinked files and to every memfd (fs/d_path.c). A name may also
	 * end so. */
	static const char mark[] = " (deleted)";
	const size_t tail = sizeof(mark) - 1;
	char path[PATH_MAX + 1];
	ssize_t len = readlinkat(pid_fd, "exe", path, PATH_MAX);
	const char *name;
	bool deleted = false, memfd;
	size_t n;

	if (len < 0)
		return -errno;
	path[len] = '\0';
	/* The name of a memfd may contain slashes. */
	memfd = len > 7 && memcmp(path, "/memfd:", 7) == 0;
	name = memfd ? path : memrchr(path, '/', (size_t)len);
	name = name ? name + 1 : path;
	n = (size_t)(path + len - name);
	if (n > tail && memcmp(path + len - tail, mark, tail) == 0 &&
	    (memfd || !exe_is_at(pid_fd, path))) {
		n -= tail;
		deleted = !memfd;
	}
	if (n >= cap)
		return -ENAMETOOLONG;
	memcpy(buf, name, n);
	buf[n] = '\0';
	*ret_deleted = deleted;
	return (ssize_t)n;
}

/*
 * The expected field 22. The kernel adds the offset of the reader's time namespace in nanoseconds
 * and then divides (do_task_stat(), fs/proc/array.c; nsec_to_clock_t(), kernel/time/time.c), in
 * unsigned 64 bits: a process older than the zero of our clock has a number near 2^64 / 10^7.
 */
static uint64_t expected_ticks(const struct procfs *proc, uint64_t start_ns)
{
	int64_t ticks = (int64_t)(start_ns / NS_PER_TICK);

	if (__builtin_add_overflow(ticks, proc->start_offset_ticks, &ticks))
		return UINT64_MAX;
	return ticks >= 0 ? (uint64_t)ticks : UINT64_MAX / NS_PER_TICK + (uint64_t)ticks;
}

int procfs_same_start(const struct procfs *proc, int pid_fd, uint64_t start_ns)
{
	struct proc_stat stat;
	int r = proc_stat_read(pid_fd, "stat", &stat);
	uint64_t expected, diff;

	if (r < 0)
		return file_exhausted(r) ? r : 0;
	expected = expected_ticks(proc, start_ns);
	diff = stat.start_ticks > expected ? stat.start_ticks - expected
					   : expected - stat.start_ticks;
	/* The offset of a time namespace may be off by a part of a tick. */
	return diff <= (proc->start_offset_ticks ? 1 : 0);
}

void procfs_learn_start_offset(struct procfs *proc, uint64_t start_ns)
{
	struct proc_stat stat;

	if (proc->trusted && proc_stat_read(proc->fd, "self/stat", &stat) == 0)
		proc->start_offset_ticks = (int64_t)(stat.start_ticks - start_ns / NS_PER_TICK);
}
