/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Starts and ends the background programs of a soak test, and tells what it found. */
#ifndef ZMEM_TESTS_SOAK_NOISE_H
#define ZMEM_TESTS_SOAK_NOISE_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Nothing is given up: sources are opened repeatedly, and helpers are to be waited for. */
int __wrap_secure_loaded(const char *output, unsigned later);

int __wrap_secure_loaded(const char *output, unsigned later)
{
	(void)output;
	(void)later;
	return 0;
}

/* What was measured, "soak" or "watch", and whether a check failed. */
struct verdicts {
	const char *who;
	bool failed;
};

static inline void verdict(struct verdicts *v, bool good, const char *name, size_t before,
			   size_t after)
{
	if (good)
		printf("ok %s: %s\n", v->who, name);
	else
		printf("not ok %s: %s: from %zu to %zu\n", v->who, name, before, after);
	v->failed |= !good;
}

static inline void die(const char *what)
{
	printf("not ok soak: %s\n", what);
	exit(1);
}

/* Starts a program that ends with its standard input; waits for its first line if it has one. */
static inline pid_t start(char **argv, bool speaks, int *ret_fd)
{
	int in[2], out[2];
	char c = 0;
	pid_t pid;

	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		die("no pipe");
	pid = fork();
	if (pid == 0) {
		dup2(in[0], STDIN_FILENO);
		if (speaks)
			dup2(out[1], STDOUT_FILENO);
		execv(argv[0], argv);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	while (speaks && c != '\n')
		if (pid < 0 || read(out[0], &c, 1) != 1)
			die("the fleet does not start");
	close(out[0]);
	*ret_fd = in[1];
	return pid;
}

static inline void stop(struct verdicts *v, pid_t pid, int fd)
{
	int status;

	close(fd);
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status))
		verdict(v, false, "what makes the noise ends well", 0, 1);
}

#endif
