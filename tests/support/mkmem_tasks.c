// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* mkmem's shapes of processes and threads. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mkmem.h"

struct clone_args_ {
	pid_t parent;
	int ready_fd;
};

/* A process that shares all memory with its parent, so it uses as little of libc as possible. */
static int clone_main(void *arg)
{
	const struct clone_args_ *a = arg;

	die_with_parent(a->parent);
	if (write(a->ready_fd, "", 1) == 1)
		idle_forever();
	return 1;
}

static void shape_clone_vm(void)
{
	static struct clone_args_ args;
	const size_t stack = 64 * KIB;
	char *top = map_memory(stack, 0) + stack;
	int fds[2];
	pid_t pid;
	char c;

	fill(map_memory(4 * MIB, 0), 4 * MIB);
	if (pipe(fds))
		shape_fail("pipe");
	args = (struct clone_args_){getpid(), fds[1]};
	pid = clone(clone_main, top, CLONE_VM | SIGCHLD, &args);
	if (pid < 0)
		shape_fail("clone");
	if (read(fds[0], &c, 1) != 1)
		shape_fail("the clone");
	shape_report("clone", pid);
}

/* ---- threads ---- */

static pthread_barrier_t barrier;

/* Its argument is how much it touches. */
static void *thread_main(void *arg)
{
	const size_t size = *(size_t *)arg;

	fill(size < MIB ? map_small(size) : map_memory(size, 0), size);
	pthread_barrier_wait(&barrier);
	idle_forever();
}

static void start_threads(int count, size_t size)
{
	pthread_t thread;

	if (pthread_barrier_init(&barrier, NULL, count + 1))
		shape_fail("barrier");
	for (int i = 0; i < count; i++) {
		errno = pthread_create(&thread, NULL, thread_main, &size);
		if (errno)
			shape_fail("thread");
	}
	pthread_barrier_wait(&barrier);
}

static void shape_threads(void)
{
	start_threads(8, MIB);
}

/* More threads than the BPF program for kernels before 5.19 reads. */
static void shape_threads_many(void)
{
	start_threads(300, 3 * PAGE);
}

static void *last_thread(void *arg)
{
	char text[256], *paren = NULL;
	FILE *f;

	(void)arg;
	/* The leader becomes a zombie after it has released its memory. */
	while (!paren || paren[2] != 'Z') {
		usleep(1000);
		f = fopen("/proc/self/stat", "re");
		if (!f)
			shape_fail("/proc/self/stat");
		text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
		fclose(f);
		paren = strrchr(text, ')');
	}
	shape_ready();
	idle_forever();
}

static void shape_leader_exit(void)
{
	pthread_t thread;

	start_threads(4, MIB);
	errno = pthread_create(&thread, NULL, last_thread, NULL);
	if (errno)
		shape_fail("thread");
	pthread_exit(NULL);
}

static void shape_swap_leader(void)
{
	char *p = map_memory(2 * MIB, MAP_SHARED);

	fill(p, 2 * MIB);
	page_out(p, 2 * MIB);
	shape_leader_exit();
}

/* ---- states and namespaces ---- */

static void shape_zombie(void)
{
	pid_t pid = fork();

	if (pid < 0)
		shape_fail("fork");
	if (!pid)
		_exit(0);
	if (waitid(P_PID, pid, NULL, WEXITED | WNOWAIT))
		shape_fail("waitid");
	shape_report("zombie", pid);
}

static void shape_pidns(void)
{
	if (unshare(CLONE_NEWPID))
		shape_skip("no new pid namespace is allowed");
	steps("inner { a = memory 2M; fill a } second { a = memory 2M; fill a }");
}

/* ---- names ---- */

struct hostile_name {
	const char *role;
	const char *exe;
	const char *comm; /* NULL: as exec makes it of exe */
	bool memfd;
};

static const struct hostile_name names[] = {
	{"newline", "a\nb\033[31m\"'\\", "c\n\033[2J\"\t\r\\d"},
	{"not_utf8", "\xff\xfe\xc3(caf\xe9\xed\xa0\x80", "\xf0\x9f\x98 \x80\xc0\xaf"},
	{"paren", "a) R 1 (b", NULL},
	{"space", "two words (x) y ", NULL},
	/* comm ends inside a UTF-8 character; exe is longer than 64 bytes. */
	{"long",
	 "fourteen chars\xc3\xa9 and many more, so that nobody who keeps sixty-four bytes of it has "
	 "it all, not even ninety-nine \xf0\x9f\x98\x80",
	 NULL},
	{"bidi", "\xe2\x80\xaegpj.exe", "\xe2\x80\xaemoc"},
	{"invisible",
	 "mkmem\xef\xbb\xbf\xe2\x81\xa0\xe2\x80\x8d\xc2\xad\xe3\x85\xa4\xf3\xa0\x81\x81\xee\x80\x80",
	 "mk\xe2\x80\x8bmem"},
	{"empty", "e", ""},
	{"memfd", "in memory", NULL, true},
};

static void copy_self(int to)
{
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	static char buffer[65536];
	ssize_t n;

	if (from < 0)
		shape_fail("/proc/self/exe");
	while ((n = read(from, buffer, sizeof(buffer))) > 0) {
		if (write(to, buffer, n) != n)
			shape_fail("copy of the program");
	}
	close(from);
	/* A file open for writing cannot be run (ETXTBSY): the caller's fd is the last one. */
	if (fchmod(to, 0755) || close(to))
		shape_fail("copy of the program");
}

struct exec_args {
	const char *path;
	const char *comm;
};

static void exec_copy(void *arg)
{
	const struct exec_args *a = arg;
	char fd[16];

	snprintf(fd, sizeof(fd), "%d", role_fd());
	execl(a->path, "mkmem", "--idle", fd, a->comm, NULL);
	_exit(1);
}

static void start_from_memfd(const struct hostile_name *n)
{
	char path[64], again[64];
	int fd = memfd_create(n->exe, 0), run;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	run = open(path, O_RDONLY);
	if (fd < 0 || run < 0)
		shape_fail("memfd");
	copy_self(fd);
	snprintf(again, sizeof(again), "/proc/self/fd/%d", run);
	role_start(n->role, exec_copy, &(struct exec_args){again, n->comm});
	close(run);
}

static void shape_names(void)
{
	char path[512], *dir = mkdtemp(temp_path("mkmem"));
	int fd;

	if (!dir)
		shape_fail("mkdtemp");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (names[i].memfd) {
			start_from_memfd(&names[i]);
			continue;
		}
		snprintf(path, sizeof(path), "%s/%s", dir, names[i].exe);
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
		if (fd < 0)
			shape_fail("hostile name");
		copy_self(fd);
		role_start(names[i].role, exec_copy, &(struct exec_args){path, names[i].comm});
		unlink(path);
	}
	rmdir(dir);
}

#define SHARED "a = shared 32M; nohuge a; b = small 32M; fill a; fill b;"

const struct shape task_shapes[] = {
	{"fork", "8 MiB shared by fork with three children, one wrote half",
	 "a = memory 8M; fill a; child1 {} child2 {} writer { fill a:4M }"},
	{"clone_vm", "two processes, one address space", .run = shape_clone_vm},
	{"threads", "8 threads that each touched memory", .run = shape_threads},
	{"threads_many", "300 threads", .run = shape_threads_many},
	{"leader_exit", "the first thread ended, the others hold memory", .run = shape_leader_exit},
	{"swap_leader", "2 MiB of shared memory paged out, the first thread ended",
	 .run = shape_swap_leader, .on_request = true},
	{"zombie", "a child that was not waited for", .run = shape_zombie},
	{"pidns", "processes in a pid namespace of their own", .run = shape_pidns},
	{"names", "hostile names of programs and threads", .run = shape_names},
	/* All sizes differ and are in no order. */
	{"fleet", "300 processes of different sizes",
	 "odd#*150 { a = small 24K+48K#; fill a } even#*150 { a = small 7200K-48K#; fill a }",
	 .on_request = true},
	/* Each touched as many pages after the fork, so that all counters are equal. */
	{"workers", "200 forks of one process that did the same",
	 "a = small 512K; fill a; #*200 { fill a:64K }", .on_request = true},
	{"quarters", "16 MiB shared with three processes",
	 "a = shared 16M; nohuge a; fill a; sharer#*3 { touch a }", .on_request = true},
	{"sharers", "64 MiB shared with 12 processes, by mmap and by fork",
	 SHARED "sharer#*12 { touch a; touch b }", .on_request = true},
	{"sharers_come", "the same, and others come and go",
	 SHARED "sharer#*12 { touch a; touch b } comer { forever { touch a; touch b } }",
	 .on_request = true, .busy = true},
	{"churn", "forks and execs without end",
	 "forever { a = memory 256K; fill a; exec_and_end }", .on_request = true, .busy = true},
	{},
};
