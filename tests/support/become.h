/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests that need a process of another user. */
#ifndef TESTS_BECOME_H
#define TESTS_BECOME_H

#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

/* True if this process can become that user: root can, but not in each container. */
static inline bool can_become(uid_t uid)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(setgid(uid) || setuid(uid));
	if (waitpid(pid, &status, 0) == pid && status == 0)
		return true;
	print_message("this process cannot become the user %u\n", uid);
	return false;
}

#endif
