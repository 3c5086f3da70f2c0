/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A /proc, rooted at a directory fd, so that tests can use a captured tree. Finds processes and
 * their files; the parsers beside it read the texts.
 */
#ifndef ZMEM_PROC_PROCFS_H
#define ZMEM_PROC_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct procfs {
	int fd; /* the root, -1 without /proc */
	/*
	 * True if /proc/self is this process: then the pids of this /proc are those of our pid
	 * namespace. If false, the files of a pid that came from elsewhere must not be used.
	 */
	bool trusted;
	/*
	 * The ticks that /proc/PID/stat adds to a start time of the kernel (our time namespace). 0
	 * after procfs_open(); a caller with start times of the kernel calls
	 * procfs_learn_start_offset(). Start times from this /proc include the offset and need 0.
	 */
	int64_t start_offset_ticks;
};

/*
 * Opens `path`; if its "self" is not this process, trusted is false. Returns 0, or a negative errno
 * and *proc is closed (fd -1).
 */
int procfs_open(struct procfs *proc, const char *path);
void procfs_close(struct procfs *proc);

/* Reads a file of the machine ("meminfo") as file_read() does. */
ssize_t procfs_read(const struct procfs *proc, const char *name, char *buf, size_t cap);
/* From loadavg; 0: not known. */
struct proc_load {
	uint64_t last_pid; /* of the newest process or thread: while it is the same, none began */
	uint64_t tasks;	   /* loadavg_parse_tasks() */
};

void procfs_load(const struct procfs *proc, struct proc_load *ret);

/* False if it hides processes of other users (hidepid=2). */
bool procfs_shows_all(const struct procfs *proc);

/* ---- the directory of a process ---- */

/* Opens PID/ as a directory to read below. Returns an fd, or -ESRCH if it is gone, or -errno. */
int procfs_open_pid(const struct procfs *proc, pid_t pid);

/*
 * Opens PID/task/TID/ of a live thread. If the leader has exited, the memory of the process is
 * shown there. Returns an fd, -ESRCH, or -errno without files or memory.
 */
int procfs_open_thread(int pid_fd);

/*
 * The base name of the executable of PID/exe, without the kernel's " (deleted)", and whether the
 * kernel wrote it. A memfd, which was never in a directory, is not deleted. Returns the length of
 * the name, terminated in buf, or a negative errno.
 */
ssize_t procfs_exe_name(int pid_fd, char *buf, size_t cap, bool *ret_deleted);

/*
 * Calls fn for every process directory, in no order, until fn returns other than 0.
 * Returns that, 0, or a negative errno.
 */
int procfs_each_pid(const struct procfs *proc, int (*fn)(void *arg, pid_t pid), void *arg);
/* The same for the threads of a process. */
int procfs_each_thread(const struct procfs *proc, pid_t pid, int (*fn)(void *arg, pid_t tid),
		       void *arg);

/*
 * 1 if the process of pid_fd (procfs_open_pid) started at start_ns since boot, 0 if not, because
 * pids are reused. Compares ticks (CLK_TCK is 100 for every user of /proc); with an offset, which
 * may be off by a part of a tick, within one tick. A negative errno without files or memory.
 */
int procfs_same_start(const struct procfs *proc, int pid_fd, uint64_t start_ns);

/* Sets start_offset_ticks from the start time of this process as the kernel has it. */
void procfs_learn_start_offset(struct procfs *proc, uint64_t start_ns);

#endif
