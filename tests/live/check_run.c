// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "check.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

bool child_start(struct child *c, const char *const *argv)
{
	/* Output goes to a file, not a pipe: several programs run at once and none blocks. */
	c->out = memfd_create("output", MFD_CLOEXEC);
	if (c->out < 0)
		return false;
	fflush(stdout);
	c->pid = fork();
	if (c->pid)
		return c->pid > 0;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(c->out, STDOUT_FILENO);
	execv(argv[0], (char *const *)argv);
	perror(argv[0]);
	_exit(127);
}

char *child_wait(struct child *c, int *ret_status)
{
	off_t size;
	char *text;

	*ret_status = -1;
	waitpid(c->pid, ret_status, 0);
	size = lseek(c->out, 0, SEEK_END);
	text = calloc(1, size + 1);
	if (!text || pread(c->out, text, size, 0) != size)
		abort();
	close(c->out);
	return text;
}

static bool take_line(struct mkmem *m, char *line, bool want_all)
{
	char shape[32], role[32];
	int pid;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "READY %31s %31s %d", shape, role, &pid) == 3) {
		if (m->count == TARGETS_MAX)
			return false;
		snprintf(m->target[m->count].label, sizeof(m->target->label), "%s/%s", shape, role);
		m->target[m->count++].pid = pid;
		return true;
	}
	if (!strncmp(line, "SKIP ", 5) && !want_all) {
		printf("# not on this machine: %s\n", line + 5);
		return true;
	}
	/* LACK: no set-up can change it. */
	if (!strncmp(line, "LACK ", 5)) {
		printf("# this kernel cannot: %s\n", line + 5);
		return true;
	}
	printf("not ok mkmem: %s\n", line);
	return false;
}

bool churn_start(struct mkmem *m, const char *program)
{
	char path[64], buffer[65536];
	int from = open(program, O_RDONLY | O_CLOEXEC), to = memfd_create("churn", MFD_CLOEXEC),
	    run;
	bool ok;
	ssize_t n;

	while ((n = read(from, buffer, sizeof(buffer))) > 0 && write(to, buffer, n) == n)
		;
	/* A file open for writing cannot be run. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", to);
	run = open(path, O_RDONLY);
	close(from);
	close(to);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", run);
	ok = n == 0 && mkmem_start(m, path, (const char *[]){"churn", NULL}, true);
	close(run);
	return ok;
}

bool mkmem_start(struct mkmem *m, const char *program, const char *const *shapes, bool want_all)
{
	const char *argv[64] = {program};
	char line[256];
	bool ok = true;
	int in[2], out[2];
	FILE *f;

	for (int i = 0; shapes && shapes[i] && i < 60; i++)
		argv[i + 1] = shapes[i];
	m->count = 0;
	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		return false;
	fflush(stdout);
	m->pid = fork();
	if (!m->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		execv(program, (char *const *)argv);
		perror(program);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	m->in = in[1];
	f = fdopen(out[0], "r");
	for (;;) {
		if (!f || !fgets(line, sizeof(line), f)) {
			puts("not ok mkmem: ended before it was ready");
			return false;
		}
		if (!strcmp(line, "DONE\n"))
			break;
		ok &= take_line(m, line, want_all);
	}
	/* f stays open, so that SIGPIPE does not end mkmem. */
	return ok;
}

void mkmem_stop(struct mkmem *m)
{
	close(m->in);
	waitpid(m->pid, NULL, 0);
}
