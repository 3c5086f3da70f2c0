// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Starts and ends the workload programs. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "bench.h"

extern char **environ;

const struct workload *workload_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(workloads); i++) {
		if (strcmp(workloads[i].name, name) == 0)
			return &workloads[i];
	}
	return NULL;
}

void workload_list(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(workloads); i++)
		fprintf(stderr, "  %-14s %s\n", workloads[i].name, workloads[i].text);
}

int helper_start(struct helper *h, const char *name, const char *const *args)
{
	posix_spawn_file_actions_t actions;
	const char *argv[8] = {name};
	int in[2], out[2], r;
	char path[4096];

	for (size_t i = 0; args[i] && i + 2 < ARRAY_SIZE(argv); i++)
		argv[i + 1] = args[i];
	bench_beside(name, path, sizeof(path));
	if (pipe2(in, O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(out, O_CLOEXEC) < 0) {
		r = -errno;
		close(in[0]);
		close(in[1]);
		return r;
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in[0], 0);
	posix_spawn_file_actions_adddup2(&actions, out[1], 1);
	r = -posix_spawn(&h->pid, path, &actions, NULL, (char *const *)argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(in[0]);
	close(out[1]);
	h->in = in[1];
	h->out = out[0];
	if (r < 0) {
		fprintf(stderr, "bench: %s: %s\n", path, strerror(-r));
		close(h->in);
		close(h->out);
		h->pid = 0;
	}
	return r;
}

void helper_stop(struct helper *h)
{
	if (h->pid <= 0)
		return;
	close(h->in);
	close(h->out);
	waitpid(h->pid, NULL, 0);
	h->pid = 0;
}

int workload_start(struct helper *h, const char *const *specs)
{
	char line[128] = "";
	ssize_t n;
	int r;

	h->pid = 0;
	if (!specs[0])
		return 0;
	r = helper_start(h, "workload", specs);
	if (r < 0)
		return r;
	n = read(h->out, line, sizeof(line) - 1);
	if (n >= 5 && strncmp(line, "READY", 5) == 0) {
		/* Wait for the background work of exec and fork. */
		usleep(300000);
		return 0;
	}
	fprintf(stderr, "bench: the workload did not start: %s\n", line);
	helper_stop(h);
	return -ECHILD;
}
