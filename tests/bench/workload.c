// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * workload SPEC...: processes that hold memory and sleep. SPEC is a name of workloads.h, which
 * "workload list" prints, or one of
 *	fork:COUNTxKIB	   forked, each with KIB of anonymous memory of its own
 *	exec:COUNTxKIB	   likewise, but exec'ed: nothing of theirs was ever shared by a fork
 *	sizes:COUNTxKIB	   like fork, each a quarter percent larger than the one before
 *	prefork:COUNTxKIB  workers with KIB of private memory of their parent's and KIB of shared
 *			   memory, every page of both mapped in each
 *	cow:COUNTxKIB	   workers with the same KIB of private memory of their parent's
 *	shmem:COUNTxKIB	   each with the same KIB of shared memory, every page of 4 KiB mapped
 *	hugeshmem:COUNTxKIB  likewise, in huge pages where the kernel gives them
 *	eight:COUNTxKIB	   each with eight mappings of the same file of KIB
 *
 * Prints READY when all sleep, or FAIL and the reason. All end when standard input ends.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workloads.h"

struct spec {
	char kind[16];
	long count, kib;
	char *private, *shared; /* of prefork; shared also of shmem */
	int fd;			/* of eight */
};

static int ready[2];
static pid_t *pids;
static size_t started;

static char *map(size_t bytes, int flags)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	memset(p, 1, bytes);
	return p;
}

static void read_pages(const char *memory, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < bytes; i += page)
		(void)*(volatile const char *)&memory[i];
}

/* Shared memory, in pages of the size that `advice` asks for. */
static char *map_shmem(size_t bytes, int advice)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	madvise(p, bytes, advice);
	memset(p, 1, bytes);
	return p;
}

static int make_file(size_t bytes)
{
	int fd = memfd_create("workload", MFD_CLOEXEC);
	char *p;

	if (fd < 0 || ftruncate(fd, (off_t)bytes) < 0)
		return -1;
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return -1;
	madvise(p, bytes, MADV_NOHUGEPAGE);
	memset(p, 1, bytes);
	munmap(p, bytes);
	return fd;
}

/* Maps the file eight times, every page. */
static bool map_eight(int fd, size_t bytes)
{
	for (int i = 0; i < 8; i++) {
		if (mmap(NULL, bytes, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0) == MAP_FAILED)
			return false;
	}
	return true;
}

/* Reports ready and sleeps until killed. */
static _Noreturn void hold(int fd, bool have)
{
	if (!have || write(fd, "", 1) != 1)
		_exit(1);
	close(fd);
	for (;;)
		pause();
}

static _Noreturn void become_fresh(long kib)
{
	char size[24], fd[12];

	snprintf(size, sizeof(size), "%ld", kib);
	snprintf(fd, sizeof(fd), "%d", ready[1]);
	/* The death signal survives exec. */
	execl("/proc/self/exe", "workload", "hold", size, fd, NULL);
	_exit(1);
}

static _Noreturn void child(const struct spec *s, long i, pid_t parent)
{
	size_t bytes = (size_t)s->kib * 1024;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	close(ready[0]);
	if (strcmp(s->kind, "exec") == 0)
		become_fresh(s->kib);
	if (strcmp(s->kind, "prefork") == 0) {
		read_pages(s->private, bytes);
		read_pages(s->shared, bytes);
		hold(ready[1], true);
	}
	if (strcmp(s->kind, "cow") == 0)
		hold(ready[1], true);
	if (strcmp(s->kind, "shmem") == 0 || strcmp(s->kind, "hugeshmem") == 0) {
		read_pages(s->shared, bytes);
		hold(ready[1], true);
	}
	if (strcmp(s->kind, "eight") == 0)
		hold(ready[1], map_eight(s->fd, bytes));
	if (strcmp(s->kind, "sizes") == 0) {
		double size = (double)bytes;

		while (i--)
			size *= 1.0025;
		bytes = (size_t)size;
	}
	hold(ready[1], map(bytes, MAP_PRIVATE));
}

static const char *const kinds[] = {"fork", "exec",  "sizes",	  "prefork",
				    "cow",  "shmem", "hugeshmem", "eight"};

static int parse(const char *text, struct spec *s)
{
	char end;

	*s = (struct spec){};
	if (sscanf(text, "%15[a-z]:%ldx%ld%c", s->kind, &s->count, &s->kib, &end) != 3 ||
	    s->count <= 0 || s->kib <= 0)
		return -EINVAL;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strcmp(s->kind, kinds[i]) == 0)
			return 0;
	}
	return -EINVAL;
}

static int start(struct spec *s)
{
	pid_t *more = realloc(pids, (started + (size_t)s->count) * sizeof(*pids));

	if (!more)
		return -ENOMEM;
	pids = more;
	if (strcmp(s->kind, "prefork") == 0) {
		s->private = map((size_t)s->kib * 1024, MAP_PRIVATE);
		s->shared = map((size_t)s->kib * 1024, MAP_SHARED);
		if (!s->private || !s->shared)
			return -ENOMEM;
	}
	if (strcmp(s->kind, "cow") == 0) {
		s->private = map((size_t)s->kib * 1024, MAP_PRIVATE);
		if (!s->private)
			return -ENOMEM;
	}
	if (strcmp(s->kind, "shmem") == 0 || strcmp(s->kind, "hugeshmem") == 0) {
		s->shared = map_shmem((size_t)s->kib * 1024,
				      *s->kind == 'h' ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
		if (!s->shared)
			return -ENOMEM;
	}
	if (strcmp(s->kind, "eight") == 0) {
		s->fd = make_file((size_t)s->kib * 1024);
		if (s->fd < 0)
			return -ENOMEM;
	}
	for (long i = 0; i < s->count; i++) {
		pid_t parent = getpid(), pid = fork();

		if (pid < 0)
			return -errno;
		if (pid == 0)
			child(s, i, parent);
		pids[started++] = pid;
	}
	return 0;
}

static int start_text(const char *text)
{
	struct spec spec;
	int r = parse(text, &spec);

	return r < 0 ? r : start(&spec);
}

/* Expands the name of a workload, or takes a SPEC as it is. */
static int start_named(const char *name)
{
	int r = 0;

	for (size_t i = 0; i < sizeof(workloads) / sizeof(*workloads); i++) {
		if (strcmp(workloads[i].name, name))
			continue;
		for (int k = 0; workloads[i].spec[k] && r == 0; k++)
			r = start_text(workloads[i].spec[k]);
		return r;
	}
	return start_text(name);
}

static int list(void)
{
	for (size_t i = 0; i < sizeof(workloads) / sizeof(*workloads); i++)
		printf("%s\t%s\n", workloads[i].name, workloads[i].text);
	return 0;
}

/* A child that failed closes its end and is one byte short. */
static int wait_ready(void)
{
	char byte;

	close(ready[1]);
	for (size_t i = 0; i < started; i++) {
		if (read(ready[0], &byte, 1) != 1)
			return -ECHILD;
	}
	return 0;
}

int main(int argc, char **argv)
{
	char byte;
	int r = 0;

	if (argc == 4 && strcmp(argv[1], "hold") == 0)
		hold(atoi(argv[3]), map(strtoul(argv[2], NULL, 10) * 1024, MAP_PRIVATE));
	if (argc == 2 && strcmp(argv[1], "list") == 0)
		return list();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGCHLD, SIG_IGN);
	if (pipe(ready))
		return 1;
	for (int i = 1; i < argc && r == 0; i++)
		r = start_named(argv[i]);
	if (r == 0)
		r = wait_ready();
	if (r < 0)
		printf("FAIL %s\n", strerror(-r));
	else
		puts("READY");
	fflush(stdout);
	while (r == 0 && read(0, &byte, 1) > 0)
		;
	/* Wait for all children, so that waiting for this process covers them. */
	for (size_t i = 0; i < started; i++)
		kill(pids[i], SIGKILL);
	while (wait(NULL) >= 0 || errno == EINTR)
		;
	return r < 0;
}
