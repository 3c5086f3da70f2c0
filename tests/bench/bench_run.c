// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Single measurements of each kind, and their statistics. */
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "bench.h"
#include "read_all.h"

extern char **environ;

static int runner = -1; /* where commands are asked for */

double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double cpu_ms(const struct rusage *u)
{
	return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1e3 +
	       (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) / 1e3;
}

/* Of all threads, also those that have ended. */
static double own_cpu_ms(void)
{
	struct rusage usage = {};

	getrusage(RUSAGE_SELF, &usage);
	return cpu_ms(&usage);
}

struct reading measure_read_all(const char *file)
{
	double cpu = own_cpu_ms(), start = now_ms();
	struct reading f = {};

	read_all(file);
	f.wall_ms = now_ms() - start;
	f.cpu_ms = own_cpu_ms() - cpu;
	return f;
}

struct reading engine_measure(struct engine *e)
{
	double cpu = own_cpu_ms(), start = now_ms();
	struct reading f = {};

	f.failed = engine_collect(e) < 0;
	f.wall_ms = now_ms() - start;
	f.cpu_ms = own_cpu_ms() - cpu;
	return f;
}

static struct reading run_command(const char *const *argv)
{
	posix_spawn_file_actions_t actions;
	struct rusage usage = {};
	double start = now_ms();
	int status = -1;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	if (posix_spawnp(&pid, argv[0], &actions, NULL, (char *const *)argv, environ) == 0)
		wait4(pid, &status, 0, &usage);
	posix_spawn_file_actions_destroy(&actions);
	return (struct reading){now_ms() - start, cpu_ms(&usage), (double)usage.ru_maxrss / 1024,
				status != 0};
}

/* A command is sent as its words, each terminated by 0. */
static struct reading run_message(char *message, size_t size)
{
	const char *argv[16] = {};
	size_t words = 0;

	for (char *p = message; p < message + size && words + 1 < ARRAY_SIZE(argv);
	     p += strlen(p) + 1)
		argv[words++] = p;
	return run_command(argv);
}

void runner_start(void)
{
	char message[4096];
	ssize_t size;
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		exit(1);
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(fds[0]);
		while ((size = read(fds[1], message, sizeof(message))) > 0) {
			struct reading f = run_message(message, (size_t)size);

			if (write(fds[1], &f, sizeof(f)) != sizeof(f))
				break;
		}
		_exit(0);
	}
	close(fds[1]);
	runner = fds[0];
}

struct reading runner_run(const char *const *argv)
{
	struct reading f = {.failed = true};
	char message[4096];
	size_t size = 0;

	for (; *argv && size + strlen(*argv) < sizeof(message); argv++) {
		strcpy(message + size, *argv);
		size += strlen(*argv) + 1;
	}
	if (write(runner, message, size) != (ssize_t)size ||
	    read(runner, &f, sizeof(f)) != sizeof(f))
		fprintf(stderr, "bench: the runner is gone\n");
	return f;
}

static int compare(const void *pa, const void *pb)
{
	const double *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

static double quantile(const double *v, int n, double share)
{
	double at = share * (n - 1);
	int i = (int)at;

	return i + 1 < n ? v[i] + (at - i) * (v[i + 1] - v[i]) : v[n - 1];
}

struct spread spread_of(double *v, int n)
{
	if (n <= 0)
		return (struct spread){};
	qsort(v, (size_t)n, sizeof(*v), compare);
	return (struct spread){v[0], quantile(v, n, 0.25), quantile(v, n, 0.5),
			       quantile(v, n, 0.75), v[n - 1]};
}
