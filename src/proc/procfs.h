/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A /proc, rooted at a directory fd, so that a captured tree is a test. Knows where files are and
 * which processes there are; what is in the files is for the parsers beside it.
 */
#ifndef ZMEM_PROCFS_H
#define ZMEM_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct procfs {
	int fd; /* the root, -1 without /proc */
	/*
	 * True if /proc/self is this very process: then numbers in this /proc are those of our pid
	 * namespace. If not, nothing in it may be used for a pid that came from elsewhere.
	 */
	bool trusted;
	/*
	 * What /proc/PID/stat adds to a start time that the kernel tells (our time namespace),
	 * ticks. 0 after procfs_open(), which cannot know it: whoever has start times from the
	 * kernel calls procfs_learn_start_offset(). Start times out of this /proc have it in them
	 * and need 0.
	 */
	int64_t start_offset_ticks;
};

/*
 * Opens `path`. A root without a "self" that is us is opened all the same, with trusted = false.
 * Returns 0, or a negative errno and *proc is a closed one (fd -1).
 */
int procfs_open(struct procfs *proc, const char *path);
void procfs_close(struct procfs *proc);

/* Reads a file of the machine ("meminfo") as file_read() does. */
ssize_t procfs_read(const struct procfs *proc, const char *name, char *buf, size_t cap);
/*
 * The number of the newest process or thread (loadavg): while it stays the same nothing was
 * started. 0 if it cannot be read.
 */
uint64_t procfs_last_pid(const struct procfs *proc);

/* ---- the directory of a process ---- */

/* Opens PID/ as a directory to read below. Returns an fd, or -ESRCH if it is gone, or -errno. */
int procfs_open_pid(const struct procfs *proc, pid_t pid);

/*
 * Opens PID/task/TID/ of a thread that lives, other than the leader: where the memory of a process
 * is shown whose leader has exited. Returns an fd, -ESRCH, or -errno without files or memory.
 */
int procfs_open_thread(int pid_fd);

/*
 * The base name of the executable behind PID/exe, without the kernel's " (deleted)". Returns its
 * length, terminated in buf, or a negative errno.
 */
ssize_t procfs_exe_name(int pid_fd, char *buf, size_t cap);

/*
 * Calls fn for every process directory, in no order, until fn returns other than 0.
 * Returns that, 0, or a negative errno.
 */
int procfs_each_pid(const struct procfs *proc, int (*fn)(void *arg, pid_t pid), void *arg);

/*
 * 1 if the process behind pid_fd (procfs_open_pid) started at start_ns since boot, to the tick
 * (CLK_TCK is 100 for every user of /proc), 0 if not: pids are used again. With an offset, to one
 * tick more or less: a time namespace may be off by a part of one. A negative errno if we have no
 * files or memory left to tell.
 */
int procfs_same_start(const struct procfs *proc, int pid_fd, uint64_t start_ns);

/* Sets start_offset_ticks, given when we ourselves started as the kernel has it. */
void procfs_learn_start_offset(struct procfs *proc, uint64_t start_ns);

#endif
