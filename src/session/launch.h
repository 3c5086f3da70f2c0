/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A command that is counted from its beginning. Its process is made before this program gives up
 * rights, which the command would lack, and waits until it is released.
 */
#ifndef ZMEM_SESSION_LAUNCH_H
#define ZMEM_SESSION_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#define LAUNCH_SIGNALS 3

struct launch {
	char *const *argv;
	bool maps; /* its process has the program mapped before it begins, so that it is found */
	pid_t pid; /* 0: there is none, or it was waited for */
	int go_fd; /* a byte releases it, closing ends it; -1: it was released */
	int failed_fd; /* has an errno if the command cannot be executed */
	int error;     /* that errno, once it was released; 0: it is executed */
	int status;    /* once it has ended, as wait(2) has it */
	int exit_code; /* likewise, 128 and more for a signal */
	struct sigaction inherited[LAUNCH_SIGNALS];
};

#define LAUNCH_NONE                                                                                \
	{                                                                                          \
		.go_fd = -1, .failed_fd = -1                                                       \
	}

/* What this program does with signals; a command gets what was inherited. To be called first. */
void launch_set_signals(struct launch *l);
/* These return 0, or EXIT_FAILED after a message. */
int launch_fork(struct launch *l, char *const *argv);
int launch_release(struct launch *l);
/* Whether the command has ended. With WNOHANG it is not waited for. */
bool launch_wait(struct launch *l, int flags);
/*
 * Ends the command with SIGTERM unless it `ended`, and says how it ended if that was a failure. One
 * that was ended has the exit code 0.
 */
void launch_end(struct launch *l, bool ended, bool quiet);
/* The exit code of this program: the command's, or 125 to 127 if this program failed with `own`. */
int launch_exit_code(const struct launch *l, int own);
/* A command that was not released never begins. */
void launch_close(struct launch *l);

#endif
