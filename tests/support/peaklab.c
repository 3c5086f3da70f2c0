// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Processes with known memory, for peak: peaklab MODE. They say "READY PID…" and wait to be killed,
 * except where memory comes and goes.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB	((size_t)1 << 20)
#define THREADS 8
#define SHORT	20

static char *map(size_t size, int flags)
{
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | flags, -1, 0);

	if (p == MAP_FAILED)
		_exit(1);
	return p;
}

/* Page by page. */
static char *fill(size_t size, int flags)
{
	char *p = map(size, flags);

	madvise(p, size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < size; i += 4096)
		p[i] = 1;
	return p;
}

static void ready(pid_t other)
{
	char text[64];
	int len = snprintf(text, sizeof(text), "READY %d %d\n", getpid(), other);

	if (write(1, text, (size_t)len) != len)
		_exit(1);
}

static void *fill_thread(void *arg)
{
	/* Counters of one address space are changed on all CPUs at once. */
	for (int i = 0; i < 10; i++)
		munmap(fill(4 * MIB, MAP_PRIVATE), 4 * MIB);
	fill(8 * MIB, MAP_PRIVATE);
	pthread_barrier_wait(arg);
	pause();
	return NULL;
}

static int fill_shared_space(void *unused)
{
	(void)unused;
	munmap(fill(20 * MIB, MAP_PRIVATE), 20 * MIB);
	return 0;
}

/* Children that end at once. */
static void run_short(void)
{
	for (int i = 0; i < SHORT; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			map(50 * MIB, MAP_PRIVATE | MAP_POPULATE);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

/* Processes that share an address space. */
static void run_clone(void)
{
	char *stack = malloc(MIB);

	fill(30 * MIB, MAP_PRIVATE);
	for (int i = 0; stack && i < 3; i++) {
		pid_t pid = clone(fill_shared_space, stack + MIB, CLONE_VM | SIGCHLD, NULL);

		waitpid(pid, NULL, 0);
	}
}

/* A child of init that holds most. */
static void run_detached(void)
{
	int gone[2];
	char byte;

	if (pipe(gone))
		_exit(1);
	if (fork() == 0) {
		setsid();
		if (fork() == 0) {
			/* Until its parent has ended. */
			close(gone[1]);
			while (read(gone[0], &byte, 1) > 0)
				;
			fill(60 * MIB, MAP_PRIVATE);
			ready(0);
			pause();
		}
		_exit(0);
	}
	wait(NULL);
	close(gone[1]);
	pause();
}

/* Half of it is a child's, which shares pages with it. */
static void run_family(void)
{
	pid_t pid;
	int filled[2];
	char byte;

	fill(40 * MIB, MAP_SHARED);
	fill(8 * MIB, MAP_PRIVATE);
	if (pipe(filled))
		_exit(1);
	pid = fork();
	if (pid == 0) {
		char *p = fill(16 * MIB, MAP_PRIVATE);

		if (write(filled[1], p, 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	if (read(filled[0], &byte, 1) != 1)
		_exit(1);
	ready(pid);
	pause();
}

/* vfork: the child runs in the memory of its parent, and becomes another program. */
static void run_exec(char *self)
{
	pid_t pid;

	fill(30 * MIB, MAP_PRIVATE);
	pid = vfork();
	if (pid == 0) {
		execl(self, self, "hold", NULL);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	pthread_barrier_t barrier;
	pthread_t thread;

	if (strcmp(mode, "hold") == 0) {
		fill(64 * MIB, MAP_PRIVATE);
		ready(0);
		pause();
	} else if (strcmp(mode, "threads") == 0) {
		pthread_barrier_init(&barrier, NULL, THREADS + 1);
		for (int i = 0; i < THREADS; i++)
			pthread_create(&thread, NULL, fill_thread, &barrier);
		pthread_barrier_wait(&barrier);
		/* More than they ever had at once before. */
		fill(64 * MIB, MAP_PRIVATE);
		ready(0);
		pause();
	} else if (strcmp(mode, "short") == 0) {
		run_short();
	} else if (strcmp(mode, "clone") == 0) {
		run_clone();
	} else if (strcmp(mode, "detached") == 0) {
		run_detached();
	} else if (strcmp(mode, "family") == 0) {
		run_family();
	} else if (strcmp(mode, "exec") == 0) {
		run_exec(argv[0]);
	} else {
		fprintf(stderr, "usage: peaklab hold|threads|short|clone|detached|family|exec\n");
		return 2;
	}
	return 0;
}
