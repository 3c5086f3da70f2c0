// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * fleet COUNT KIB [THREADS]: starts COUNT children. Each touches KIB KiB of private anonymous
 * memory, starts THREADS more threads and sleeps. Prints READY when all sleep, or FAIL and the
 * reason. All end when standard input ends.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noreturn)) static int idle(void *arg)
{
	(void)arg;
	for (;;)
		pause();
}

/* Without libc: its threads have a stack of several pages each. */
static bool start_threads(long count)
{
	static char stack[4096] __attribute__((aligned(16)));
	const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD;

	/* All share one stack: threads that only call pause() write the same bytes to it. */
	for (long i = 0; i < count; i++) {
		if (clone(idle, stack + sizeof(stack), flags, NULL) < 0)
			return false;
	}
	return true;
}

static void child(size_t bytes, long threads, pid_t parent, int ready)
{
	char *memory;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		_exit(1);
	memset(memory, 1, bytes);
	if (!start_threads(threads))
		_exit(1);
	if (write(ready, "", 1) != 1)
		_exit(1);
	close(ready);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	long count = argc >= 3 ? strtol(argv[1], NULL, 10) : 0;
	long kib = argc >= 3 ? strtol(argv[2], NULL, 10) : 0;
	long threads = argc == 4 ? strtol(argv[3], NULL, 10) : 0;
	int ready[2];
	pid_t *pids;
	char byte;

	if (count <= 0 || kib <= 0) {
		fprintf(stderr, "usage: fleet COUNT KIB [THREADS]\n");
		return 2;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGCHLD, SIG_IGN);
	pids = calloc((size_t)count, sizeof(*pids));
	if (!pids || pipe(ready))
		return 1;
	for (long i = 0; i < count; i++) {
		pid_t parent = getpid(), pid = fork();

		if (pid < 0) {
			printf("FAIL fork %ld: %s\n", i, strerror(errno));
			return 1;
		}
		if (pid == 0)
			child((size_t)kib * 1024, threads, parent, ready[1]);
		pids[i] = pid;
	}
	close(ready[1]);
	/* A child that failed closes its end and is one byte short. */
	for (long i = 0; i < count; i++) {
		if (read(ready[0], &byte, 1) != 1) {
			printf("FAIL only %ld of %ld started\n", i, count);
			return 1;
		}
	}
	puts("READY");
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		;
	/* Wait for all children, so that waiting for this process covers them. */
	for (long i = 0; i < count; i++)
		kill(pids[i], SIGKILL);
	while (wait(NULL) >= 0 || errno == EINTR)
		;
	return 0;
}
