/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A command that is counted from its beginning. Its process is made before this program gives up
 * rights, which the command would lack, and waits until it is released.
 */
#ifndef ZMEM_SESSION_LAUNCH_H
#define ZMEM_SESSION_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

struct launch {
	char *const *argv;
	pid_t pid;     /* 0: there is none, or it was waited for */
	int go_fd;     /* a byte releases it, closing ends it; -1: it was released */
	int failed_fd; /* has an errno if the command cannot be executed */
	int error;     /* that errno, once it was released; 0: it is executed */
};

#define LAUNCH_NONE                                                                                \
	{                                                                                          \
		.go_fd = -1, .failed_fd = -1                                                       \
	}

/* These return 0, or an exit code after a message. */
int launch_fork(struct launch *l, char *const *argv);
int launch_release(struct launch *l);
/* Ends the command with SIGTERM unless it `ended`, and says how it ended if that was a failure. */
void launch_end(struct launch *l, bool ended, bool quiet);
/* A command that was not released never begins. */
void launch_close(struct launch *l);

#endif
