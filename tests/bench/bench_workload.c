// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Starts and ends the workload programs. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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

/* Starts build/workload, which is beside this program. */
static int start(struct workload_run *run, const char *name)
{
	const char *argv[] = {"workload", name, NULL};
	posix_spawn_file_actions_t actions;
	int in[2], out[2], r;
	char path[PATH_MAX] = "";

	if (readlink("/proc/self/exe", path, sizeof(path) - sizeof("workload")) < 0 ||
	    pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
		return -errno;
	strcpy(strrchr(path, '/') + 1, "workload");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in[0], 0);
	posix_spawn_file_actions_adddup2(&actions, out[1], 1);
	r = -posix_spawn(&run->pid, path, &actions, NULL, (char *const *)argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(in[0]);
	close(out[1]);
	run->in = in[1];
	run->out = out[0];
	return r;
}

int workload_start(struct workload_run *run, const struct workload *w)
{
	char line[128] = "";
	ssize_t n;
	int r;

	run->pid = 0;
	r = start(run, w->name);
	if (r < 0) {
		fprintf(stderr, "bench: build/workload: %s\n", strerror(-r));
		return r;
	}
	n = read(run->out, line, sizeof(line) - 1);
	if (n >= 5 && strncmp(line, "READY", 5) == 0) {
		/* Wait for the background work of exec and fork. */
		usleep(300000);
		return 0;
	}
	fprintf(stderr, "bench: the workload did not start: %s\n", line);
	workload_stop(run);
	return -ECHILD;
}

void workload_stop(struct workload_run *run)
{
	if (run->pid <= 0)
		return;
	close(run->in);
	close(run->out);
	waitpid(run->pid, NULL, 0);
	run->pid = 0;
}
