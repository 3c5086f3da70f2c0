// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* mkmem's words for processes and threads, and for the CPUs and NUMA nodes that they use. */
#include <errno.h>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mkmem.h"

/* ---- processes ---- */

/* A role becomes another program, which shares no memory. */
static void program(void)
{
	char fd[16];

	snprintf(fd, sizeof(fd), "%d", role_fd());
	execl("/proc/self/exe", "mkmem", "--idle", fd, NULL);
	_exit(1);
}

static void exec_and_end(void)
{
	execl("/proc/self/exe", "mkmem", "--exit", NULL);
	_exit(1);
}

static void wait_for(pid_t pid)
{
	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		shape_fail("fork");
}

static void fork_and_end(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	wait_for(pid);
}

static void vfork_and_exec(void)
{
	pid_t pid = vfork();

	if (!pid)
		exec_and_end();
	wait_for(pid);
}

/* A child goes on with the steps of this role, which ends: it is then a child of mkmem. */
static void leave(void)
{
	pid_t self = getpid(), pid = fork();

	if (pid)
		_exit(pid < 0);
	while (getppid() == self)
		usleep(1000);
	die_with_parent(getppid());
}

static void zombie(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	if (pid < 0 || waitid(P_PID, pid, NULL, WEXITED | WNOWAIT))
		shape_fail("fork");
	shape_report("zombie", pid);
}

/* A process that shares all memory with its parent, so it uses as little of libc as possible. */
static int clone_main(void *parent)
{
	die_with_parent(*(pid_t *)parent);
	idle_forever();
}

static void start_clone(void)
{
	static pid_t self;
	const size_t stack = 64 * KIB;
	pid_t pid;

	self = getpid();
	pid = clone(clone_main, map_memory(stack, 0) + stack, CLONE_VM | SIGCHLD, &self);
	if (pid < 0)
		shape_fail("clone");
	shape_report("clone", pid);
}

/* ---- threads ---- */

static pthread_barrier_t barrier;
static int thread_turn;

/* Alone: the first thread waits for it. */
static void *stay(void *text)
{
	steps_of_turn(text, thread_turn);
	pthread_barrier_wait(&barrier);
	idle_forever();
}

static void *end(void *text)
{
	steps_of_turn(text, thread_turn);
	return NULL;
}

static pthread_t start_thread(void *(*run)(void *), const char *text)
{
	pthread_t thread;

	errno = pthread_create(&thread, NULL, run, (void *)text);
	if (errno)
		shape_fail("thread");
	return thread;
}

static void threads(const char *text, int count)
{
	pthread_barrier_init(&barrier, NULL, 2);
	for (thread_turn = 0; thread_turn < count; thread_turn++) {
		start_thread(stay, text);
		pthread_barrier_wait(&barrier);
	}
}

static void ended_threads(const char *text, int count)
{
	for (thread_turn = 0; thread_turn < count; thread_turn++)
		pthread_join(start_thread(end, text), NULL);
}

static void *last_thread(void *unused)
{
	const char *paren = NULL;

	(void)unused;
	/* The leader becomes a zombie after it has released its memory. */
	while (!paren || paren[2] != 'Z') {
		usleep(1000);
		paren = strrchr(file_text("/proc/self/stat"), ')');
	}
	tell_ready();
	idle_forever();
}

static void leader_ends(void)
{
	start_thread(last_thread, NULL);
	pthread_exit(NULL);
}

/* ---- CPUs and nodes ---- */

void pin(int index)
{
	cpu_set_t set;
	int cpu = -1;

	/* Of the process: this thread may have been pinned before. */
	if (sched_getaffinity(getpid(), sizeof(set), &set))
		shape_fail("sched_getaffinity");
	while (index >= 0 && cpu < CPU_SETSIZE)
		index -= CPU_ISSET(++cpu, &set);
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		shape_fail("sched_setaffinity");
}

static int node;

static void expect_node(char *p)
{
	int is = -1;

	if (syscall(SYS_get_mempolicy, &is, NULL, 0, p, MPOL_F_NODE | MPOL_F_ADDR) || is != node)
		shape_fail("memory is not on the node it was bound to");
}

static bool has_node(int number)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d", number);
	return access(path, F_OK) == 0;
}

static void each_node(const char *text, int unused)
{
	(void)unused;
	if (!has_node(1))
		shape_lack("one node only");
	for (node = 0; node < 64 && has_node(node); node++) {
		unsigned long mask = 1ul << node;

		if (syscall(SYS_set_mempolicy, MPOL_BIND, &mask, 64)) {
			/* The node has no memory, or none for this cpuset. */
			if (errno != EINVAL)
				shape_fail("set_mempolicy");
			continue;
		}
		steps_of_turn(text, node);
		each_area(expect_node);
	}
	syscall(SYS_set_mempolicy, MPOL_DEFAULT, NULL, 0);
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

static void hostile_names(void)
{
	char path[512], again[64], *dir = mkdtemp(temp_path("mkmem"));
	int fd, run;

	if (!dir)
		shape_fail("mkdtemp");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const struct hostile_name *n = &names[i];

		snprintf(path, sizeof(path), "%s/%s", dir, n->exe);
		fd = n->memfd ? memfd_create(n->exe, 0)
			      : open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
		if (fd < 0)
			shape_fail("hostile name");
		run = copy_program(fd, 0);
		snprintf(again, sizeof(again), "/proc/self/fd/%d", run);
		role_start(n->role, exec_copy,
			   &(struct exec_args){n->memfd ? again : path, n->comm});
		close(run);
		unlink(path);
	}
	rmdir(dir);
}

/* ---- command lines ---- */

/* Has /proc/PID/cmdline show this memory. All else of the mm stays as it is. */
static void claim(char *p, size_t size)
{
	const char *text = file_text("/proc/self/stat");
	unsigned long long field[52] = {};
	struct prctl_mm_map map = {.exe_fd = -1};
	int i = 3;

	for (const char *at = strrchr(text, ')') + 4; at && i < 52; i++, at = strchr(at + 1, ' '))
		field[i] = strtoull(at, NULL, 10);
	map.start_code = field[25], map.end_code = field[26], map.start_stack = field[27];
	map.start_data = field[44], map.end_data = field[45], map.start_brk = field[46];
	map.brk = (uintptr_t)sbrk(0);
	map.env_start = field[49], map.env_end = field[50];
	map.arg_start = (uintptr_t)p, map.arg_end = (uintptr_t)p + size;
	if (prctl(PR_SET_MM, PR_SET_MM_MAP, &map, sizeof(map), 0))
		shape_fail("prctl(PR_SET_MM_MAP)");
}

/* A title over the arguments, and as far into the environment as there is, as setproctitle(3). */
static void title(void)
{
	size_t room = 0;

	for (char **e = environ; *e; e++)
		room = *e + strlen(*e) - program_invocation_name;
	memset(program_invocation_name, 0, room);
	memset(program_invocation_name, 't', room < 6000 ? room : 6000);
	environ = NULL;
}

/* One that is shorter than the arguments. */
static void short_title(void)
{
	size_t room = environ[0] - program_invocation_name;

	memset(program_invocation_name, 0, room);
	memcpy(program_invocation_name, "short", 5);
}

const struct word task_words[] = {
	{"claim", .act = claim},
	{"title", .call = title},
	{"short_title", .call = short_title},
	{"program", .call = program},
	{"exec_and_end", .call = exec_and_end},
	{"fork_and_end", .call = fork_and_end},
	{"vfork_and_exec", .call = vfork_and_exec},
	{"leave", .call = leave},
	{"zombie", .call = zombie},
	{"clone", .call = start_clone},
	{"thread", .block = threads},
	{"ended_thread", .block = ended_threads},
	{"leader_ends", .call = leader_ends},
	{"each_node", .block = each_node},
	{"hostile_names", .call = hostile_names},
	{},
};
