// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * churn WORKERS [CGROUP…]: simulates a busy machine: processes of some MiB that fork, exec and
 * exit, map and unmap, start and end threads, share an address space, leave a zombie for a while,
 * change their name and, with directories of cgroups, their cgroup. One process of 256 MiB changes
 * all the time. Ends with its standard input.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define KIB   1024UL
#define MIB   (1024 * KIB)
#define LARGE (256 * MIB)

static char **cgroup;
static int cgroup_count;

static void *map(size_t bytes, int flags)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		_exit(1);
	return p;
}

static void map_and_unmap(void)
{
	size_t bytes = (16 + (size_t)rand() % 1024) * KIB;
	char *p = map(bytes, rand() % 2 ? MAP_PRIVATE : MAP_SHARED);

	memset(p, 1, bytes);
	mprotect(p, bytes / 2 & ~4095UL, PROT_READ);
	munmap(p, bytes);
}

static void *thread_main(void *arg)
{
	map_and_unmap();
	return arg;
}

static void threads(void)
{
	pthread_t thread[16];
	int count = 0;

	while (count < 16 && !pthread_create(&thread[count], NULL, thread_main, NULL))
		count++;
	while (count)
		pthread_join(thread[--count], NULL);
}

static void move_to_cgroup(void)
{
	char path[512];
	int fd;

	if (!cgroup_count)
		return;
	snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup[rand() % cgroup_count]);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0 && write(fd, "0", 1) != 1 && errno != EBUSY)
		_exit(1);
	if (fd >= 0)
		close(fd);
}

static void child(void)
{
	move_to_cgroup();
	map_and_unmap();
	if (rand() % 2)
		_exit(0);
	execl("/proc/self/exe", "churn", NULL); /* which prints its usage to /dev/null */
	_exit(1);
}

static int shares_memory(void *arg)
{
	(void)arg;
	_exit(0);
}

static void one_step(char *stack, size_t stack_size)
{
	pid_t pid = 0;

	switch (rand() % 5) {
	case 0:
		threads();
		break;
	case 1:
		prctl(PR_SET_NAME, rand() % 2 ? "churn \n\033[31m" : "churn \xff\xe2\x80\xae");
		map_and_unmap();
		break;
	case 2:
		pid = clone(shares_memory, stack + stack_size, CLONE_VM | SIGCHLD, NULL);
		break;
	default:
		pid = fork();
		if (pid == 0)
			child();
		usleep(1000); /* a zombie until then */
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

static void worker(int number)
{
	const size_t stack_size = 64 * KIB;
	char *stack = map(stack_size, MAP_PRIVATE);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	srand((unsigned)number);
	for (;;)
		one_step(stack, stack_size);
}

/* Large, written to all the time, and shared with a child for a moment. */
static void large(void)
{
	char *p = map(LARGE, MAP_PRIVATE);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	memset(p, 1, LARGE);
	for (size_t i = 0;; i = (i + MIB) % LARGE) {
		madvise(p + i, MIB / 2, MADV_DONTNEED);
		memset(p + i, 2, MIB / 2);
		if (i % (64 * MIB) == 0) {
			pid_t pid = fork();

			if (pid == 0)
				_exit(0);
			waitpid(pid, NULL, 0);
		}
		usleep(2000);
	}
}

int main(int argc, char **argv)
{
	int workers = argc > 1 ? atoi(argv[1]) : 0;
	char c;

	if (workers <= 0)
		return 2;
	cgroup = argv + 2;
	cgroup_count = argc - 2;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpgid(0, 0); /* this process group: all descendants, to be killed at the end */
	for (int i = 0; i <= workers; i++) {
		pid_t pid = fork();

		if (pid < 0) {
			perror("churn: fork");
			return 1;
		}
		if (pid == 0 && i == workers)
			large();
		if (pid == 0)
			worker(i + 1);
	}
	while (read(STDIN_FILENO, &c, 1) > 0)
		;
	signal(SIGTERM, SIG_IGN);
	kill(0, SIGTERM);
	while (wait(NULL) > 0 || errno == EINTR)
		;
	return 0;
}
