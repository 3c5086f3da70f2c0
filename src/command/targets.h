/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which processes a command is about: by PID, --name or --cgroup, or a command that it runs. */
#ifndef ZMEM_COMMAND_TARGETS_H
#define ZMEM_COMMAND_TARGETS_H

#include "proc/procfs.h"
#include "session/options.h"

/* How many ways to say it were given. */
int targets_ways(const struct options *o);
/* Refuses more than one. Returns 0, or an exit code after a message. */
int targets_check(const struct options *o);
/*
 * Calls add for each process. `add` returns 0, or a negative errno: -ESRCH if there is no such
 * process, or it has no memory; -ENOSPC is no error; -EINTR: no more are wanted. `doing`: for
 * messages, such as "counting for". Returns 0, or an exit code after a message: EXIT_NOT_FOUND
 * without any process.
 */
int targets_add(const struct options *o, const struct procfs *proc, const char *doing,
		int (*add)(void *arg, pid_t pid), void *arg);

#endif
