// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * workload SPEC..., fleet COUNT KIB [THREADS]: processes that hold memory and sleep. SPEC is a name
 * of workloads.h, which "workload list" prints, or one of
 *	fork:COUNTxKIB	   forked, each with KIB of anonymous memory of its own
 *	exec:COUNTxKIB	   likewise, but exec'ed: nothing of theirs was ever shared by a fork
 *	script:COUNTxKIB   scripts of /bin/sh: their names are in their command lines; KIB is not
 *			   used
 *	prefork:COUNTxKIB  workers with KIB of private memory of their parent's and KIB of shared
 *			   memory, every page of both mapped in each
 *	cow:COUNTxKIB	   workers with the same KIB of private memory of their parent's
 *	shmem:COUNTxKIB	   each with the same KIB of shared memory, every page of 4 KiB mapped
 * fleet is this program by another name: fork, each process with so many threads more.
 *
 * Prints READY when all sleep, or FAIL and the reason. All end when standard input ends.
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

#include "workloads.h"

static const struct kind {
	const char *name;
	bool execs, interpreted, private, shared,
		reads; /* what of its parent's memory each process has mapped */
} kinds[] = {
	{"fork"},
	{"exec", .execs = true},
	{"script", .interpreted = true},
	{"prefork", .private = true, .shared = true, .reads = true},
	{"cow", .private = true},
	{"shmem", .shared = true, .reads = true},
};

struct spec {
	const struct kind *kind;
	long count, kib, threads;
	char *private, *shared;
};

static int ready[2];
static pid_t *pids;
static size_t started;
static char script[] = "/tmp/workload-XXXXXX.sh";
static bool scripted; /* the file is there, while the scripts start */

/* Shared memory in small pages, whatever the machine's setting. */
static char *map(size_t bytes, int flags)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	if (flags & MAP_SHARED)
		madvise(p, bytes, MADV_NOHUGEPAGE);
	memset(p, 1, bytes);
	return p;
}

static void read_pages(const char *memory, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < bytes; i += page)
		(void)*(volatile const char *)&memory[i];
}

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

/* Reports ready and sleeps until killed. */
static _Noreturn void hold(int fd, bool have)
{
	if (!have || write(fd, "", 1) != 1)
		_exit(1);
	close(fd);
	idle(NULL);
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

/* Writes the script, which waits for input that never comes. Returns 0 or a negative errno. */
static int write_script(void)
{
	int fd = scripted ? -1 : mkstemps(script, 3), r;

	if (scripted)
		return 0;
	if (fd < 0)
		return -errno;
	scripted = true;
	r = dprintf(fd, "printf . >&3\nexec 3>&-\nread line\n") < 0 ? -errno : 0;
	close(fd);
	return r;
}

static _Noreturn void become_script(void)
{
	char number[24];
	int wait[2];

	snprintf(number, sizeof(number), "--number=%d", getpid());
	if (pipe(wait) == 0 && dup2(wait[0], 0) == 0 && dup2(ready[1], 3) == 3)
		execl("/bin/sh", "sh", script, number, NULL);
	_exit(1);
}

static _Noreturn void child(const struct spec *s, pid_t parent)
{
	size_t bytes = (size_t)s->kib * 1024;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	close(ready[0]);
	if (s->kind->execs)
		become_fresh(s->kib);
	if (s->kind->interpreted)
		become_script();
	if (s->kind->reads && s->private)
		read_pages(s->private, bytes);
	if (s->kind->reads)
		read_pages(s->shared, bytes);
	hold(ready[1], s->kind->private || s->kind->shared ||
			       (map(bytes, MAP_PRIVATE) && start_threads(s->threads)));
}

static int parse(const char *text, struct spec *s)
{
	char name[16], end;

	*s = (struct spec){};
	if (sscanf(text, "%15[a-z]:%ldx%ld%c", name, &s->count, &s->kib, &end) != 3)
		return -EINVAL;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strcmp(name, kinds[i].name) == 0)
			s->kind = &kinds[i];
	}
	return s->kind ? 0 : -EINVAL;
}

static int start(struct spec *s)
{
	size_t bytes = (size_t)s->kib * 1024;
	pid_t *more;

	if (s->count <= 0 || s->kib <= 0)
		return -EINVAL;
	more = realloc(pids, (started + (size_t)s->count) * sizeof(*pids));
	if (!more)
		return -ENOMEM;
	pids = more;
	if (s->kind->private)
		s->private = map(bytes, MAP_PRIVATE);
	if (s->kind->shared)
		s->shared = map(bytes, MAP_SHARED);
	if ((s->kind->private && !s->private) || (s->kind->shared && !s->shared))
		return -ENOMEM;
	if (s->kind->interpreted) {
		int r = write_script();

		if (r < 0)
			return r;
	}
	for (long i = 0; i < s->count; i++) {
		pid_t parent = getpid(), pid = fork();

		if (pid < 0)
			return -errno;
		if (pid == 0)
			child(s, parent);
		pids[started++] = pid;
	}
	return 0;
}

/* COUNT KIB [THREADS] */
static int start_fleet(int argc, char **argv)
{
	struct spec spec = {.kind = &kinds[0],
			    .count = strtol(argv[1], NULL, 10),
			    .kib = strtol(argv[2], NULL, 10),
			    .threads = argc > 3 ? strtol(argv[3], NULL, 10) : 0};

	return start(&spec);
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
	if (argc > 2 && strncmp(program_invocation_short_name, "fleet", 5) == 0)
		r = start_fleet(argc, argv);
	else
		for (int i = 1; i < argc && r == 0; i++)
			r = start_named(argv[i]);
	if (r == 0)
		r = wait_ready();
	if (scripted)
		unlink(script);
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
