// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What mkmem's shapes are made with: reports, roles, memory. */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "mkmem.h"

static const char *shape_name = "?";

static void report(const char *format, ...)
{
	char line[256];
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	/* At once, so that lines of several processes never mix. */
	if (write(REPORT_FD, line, len) != len)
		_exit(1);
}

void shape_start(const char *name)
{
	shape_name = name;
}

void shape_fail(const char *what)
{
	report("FAIL %s %s: %s\nEND %s\n", shape_name, what, strerror(errno), shape_name);
	_exit(1);
}

void shape_skip(const char *reason)
{
	report("SKIP %s %s\nEND %s\n", shape_name, reason, shape_name);
	_exit(0);
}

void shape_report(const char *role, pid_t pid)
{
	report("READY %s %s %d\n", shape_name, role, pid);
}

void shape_ready(void)
{
	report("READY %s main %d\nEND %s\n", shape_name, getpid(), shape_name);
}

void idle_forever(void)
{
	for (;;)
		pause();
}

void die_with_parent(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* 0: the parent is outside our pid namespace. */
	if (getppid() != parent && getppid() != 0)
		_exit(1);
}

static int role_pipe[2];

int role_fd(void)
{
	return role_pipe[1];
}

void role_is_ready(int fd)
{
	if (write(fd, "", 1) != 1)
		_exit(1);
	close(fd);
}

pid_t role_start(const char *role, void (*fn)(void *arg), void *arg)
{
	pid_t pid, parent = getpid();
	char byte;

	if (pipe(role_pipe))
		shape_fail("pipe");
	pid = fork();
	if (pid < 0)
		shape_fail("fork");
	if (!pid) {
		die_with_parent(parent);
		close(role_pipe[0]);
		if (fn)
			fn(arg);
		role_is_ready(role_pipe[1]);
		idle_forever();
	}
	close(role_pipe[1]);
	if (read(role_pipe[0], &byte, 1) != 1)
		shape_fail(role);
	close(role_pipe[0]);
	shape_report(role, pid);
	return pid;
}

char *map_memory(size_t size, int flags)
{
	char *p;

	if (!(flags & MAP_SHARED))
		flags |= MAP_PRIVATE;
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | flags, -1, 0);
	if (p == MAP_FAILED)
		shape_fail("mmap");
	return p;
}

void fill(char *p, size_t size)
{
	static uint64_t number;

	for (size_t i = 0; i < size; i += 4096)
		*(uint64_t *)(p + i) = ((uint64_t)getpid() << 32) + ++number;
}

void touch(const volatile char *p, size_t size)
{
	for (size_t i = 0; i < size; i += 4096)
		(void)p[i];
}

long file_number(const char *path, const char *key)
{
	size_t key_len = strlen(key);
	char line[256];
	long ret = -1;
	FILE *f = fopen(path, "re");

	while (f && ret < 0 && fgets(line, sizeof(line), f)) {
		if (!strncmp(line, key, key_len) && line[key_len] == ':')
			ret = atol(line + key_len + 1);
	}
	if (f)
		fclose(f);
	return ret;
}
