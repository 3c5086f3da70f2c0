// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * mkmem [SHAPE… | [GROUP/]NAME:STEPS…]: starts processes with memory in a known state, for the
 * tests. NAME:STEPS is a shape that is told in the language of mkmem_steps.c, in the memory cgroup
 * $MKMEM_GROUPS/GROUP.
 *
 * Starts the processes of each shape, waits until all are ready and idle, prints
 *	READY <shape> <role> <pid>	one line a process
 *	SKIP <shape> <reason>		this machine is not set up for the shape
 *	LACK <shape> <reason>		this kernel, processor or file system cannot do the shape
 *	FAIL <shape> <reason>
 *	DONE
 * and keeps the processes until its standard input ends. mkmem list names the shapes.
 *
 * Each shape's main process is a program of its own (exec), so that shapes share no memory by fork.
 * mkmem_shapes.c has the shapes, mkmem_steps.c the language, the other mkmem_*.c its words by
 *topic.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "mkmem.h"

#define SHAPES_MAX  128
#define PIDS_MAX    1024
#define READY_LIMIT 120 /* seconds */

/* ---- the list ---- */

static const struct shape *find_shape(const char *name)
{
	const struct shape *s = shapes;

	while (s->name && strcmp(s->name, name))
		s++;
	return s->name ? s : NULL;
}

static int list_shapes(void)
{
	for (const struct shape *s = shapes; s->name; s++)
		printf("%-16s %s%s\n", s->name, s->what, s->on_request ? " (on request)" : "");
	return 0;
}

/* What this process is from exec on. Both are copied: a step may write over the arguments. */
__attribute__((noreturn)) static void be(const char *name, const char *text)
{
	name = strdupa(name);
	text = strdupa(text);
	shape_start(name);
	prctl(PR_SET_NAME, name);
	steps(text);
	tell_ready();
	idle_forever();
}

/* ---- the program that starts and keeps the shapes ---- */

struct started {
	const struct shape *shape;
	const char *group; /* the cgroup, up to a slash; NULL: that of mkmem */
	pid_t pid;
	bool done;
	int ended; /* how often its process was found ended without a result */
};

struct fleet {
	struct started shape[SHAPES_MAX];
	size_t count, left;
	struct {
		pid_t pid;
		bool busy;
	} process[PIDS_MAX];
	size_t process_count;
	bool failed;
};

static pid_t start_shape(const struct started *s, int report_fd, int keeper_fd)
{
	const struct shape *shape = s->shape;
	char parent[16];
	pid_t pid;

	snprintf(parent, sizeof(parent), "%d", getpid());
	pid = fork();
	if (pid)
		return pid;
	if (dup2(report_fd, REPORT_FD) < 0)
		_exit(1);
	if (dup2(keeper_fd, KEEPER_FD) < 0)
		_exit(1);
	if (s->group && !enter_group(s->group, strcspn(s->group, "/")))
		_exit(1);
	execl("/proc/self/exe", "mkmem", "--shape", shape->name, parent,
	      find_shape(shape->name) == shape ? NULL : shape->steps, NULL);
	_exit(1);
}

static void shape_done(struct fleet *fleet, struct started *s, const char *failure)
{
	if (s->done)
		return;
	s->done = true;
	fleet->left--;
	if (failure) {
		printf("FAIL %s %s\n", s->shape->name, failure);
		fleet->failed = true;
	}
}

static void take_line(struct fleet *fleet, const char *line)
{
	char word[16], name[32], role[32];
	struct started *s = NULL;
	int pid;

	if (sscanf(line, "%15s %31s", word, name) != 2)
		return;
	for (size_t i = 0; i < fleet->count; i++) {
		if (!strcmp(fleet->shape[i].shape->name, name))
			s = &fleet->shape[i];
	}
	if (s && !strcmp(word, "END")) {
		shape_done(fleet, s, NULL);
		return;
	}
	puts(line);
	if (!strcmp(word, "FAIL"))
		fleet->failed = true;
	if (s && sscanf(line, "READY %31s %31s %d", name, role, &pid) == 3 &&
	    fleet->process_count < PIDS_MAX) {
		fleet->process[fleet->process_count].busy = strstr(s->shape->steps, "forever");
		fleet->process[fleet->process_count++].pid = pid;
	}
}

/* A main process ended without a report. Checked twice: the report may still be in the pipe. */
static void check_alive(struct fleet *fleet)
{
	for (size_t i = 0; i < fleet->count; i++) {
		struct started *s = &fleet->shape[i];
		siginfo_t info = {};

		if (!waitid(P_PID, s->pid, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid &&
		    ++s->ended > 1)
			shape_done(fleet, s, "ended before it was ready");
	}
}

static void collect(struct fleet *fleet, int fd)
{
	time_t limit = time(NULL) + READY_LIMIT;
	struct pollfd p = {.fd = fd, .events = POLLIN};
	char line[256];
	size_t len = 0;

	while (fleet->left && time(NULL) < limit) {
		if (poll(&p, 1, 200) <= 0) {
			check_alive(fleet);
			continue;
		}
		while (len < sizeof(line) - 1 && read(fd, line + len, 1) == 1 && line[len] != '\n')
			len++;
		line[len] = '\0';
		len = 0;
		take_line(fleet, line);
	}
	for (size_t i = 0; i < fleet->count; i++)
		shape_done(fleet, &fleet->shape[i], "was not ready in time");
}

/* True if no thread of the process runs; a zombie does not run. */
static bool is_idle(pid_t pid)
{
	char path[300], text[512], *paren;
	bool idle = true;
	struct dirent *e;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && idle && (e = readdir(dir))) {
		FILE *f;
		size_t len;

		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%s/stat", pid, e->d_name);
		f = fopen(path, "re");
		if (!f)
			continue;
		len = fread(text, 1, sizeof(text) - 1, f);
		fclose(f);
		text[len] = '\0';
		paren = strrchr(text, ')');
		idle = paren && (paren[2] == 'S' || paren[2] == 'Z');
	}
	if (dir)
		closedir(dir);
	return idle;
}

static void wait_idle(struct fleet *fleet)
{
	for (size_t i = 0; i < fleet->process_count; i++) {
		for (int try = 0; try < 1000 && !fleet->process[i].busy; try++) {
			if (is_idle(fleet->process[i].pid))
				break;
			usleep(10000);
		}
	}
}

/* NULL if the argument is no [GROUP/]NAME:STEPS. */
static const struct shape *told_shape(struct started *s, char *argument)
{
	char *colon = strchr(argument, ':'), *slash = strchr(argument, '/');
	struct shape *shape;

	if (!colon)
		return NULL;
	*colon = '\0';
	shape = calloc(1, sizeof(*shape));
	if (!shape)
		return NULL;
	s->group = slash && slash < colon ? argument : NULL;
	shape->name = s->group ? slash + 1 : argument;
	shape->steps = colon + 1;
	return shape;
}

static int choose(struct fleet *fleet, int argc, char **argv)
{
	for (const struct shape *s = shapes; argc == 0 && s->name; s++) {
		if (!s->on_request && fleet->count < SHAPES_MAX)
			fleet->shape[fleet->count++].shape = s;
	}
	for (int i = 0; i < argc && fleet->count < SHAPES_MAX; i++) {
		struct started *s = &fleet->shape[fleet->count++];

		s->shape = told_shape(s, argv[i]);
		if (!s->shape)
			s->shape = find_shape(argv[i]);
		if (!s->shape) {
			fprintf(stderr, "mkmem: no shape %s; mkmem list names them\n", argv[i]);
			return 2;
		}
	}
	fleet->left = fleet->count;
	return 0;
}

static int keep(struct fleet *fleet)
{
	int fds[2], keeper[2];
	char c;

	setvbuf(stdout, NULL, _IOLBF, 0);
	/* Orphans become children of this process (subreaper), so that it can wait for all. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (pipe2(fds, O_CLOEXEC) || pipe2(keeper, O_CLOEXEC)) {
		perror("mkmem: pipe");
		return 1;
	}
	for (size_t i = 0; i < fleet->count; i++)
		fleet->shape[i].pid = start_shape(&fleet->shape[i], fds[1], keeper[0]);
	collect(fleet, fds[0]);
	wait_idle(fleet);
	puts("DONE");
	while (read(STDIN_FILENO, &c, 1) > 0)
		;
	close(keeper[1]);
	for (size_t i = 0; i < fleet->count; i++)
		kill(fleet->shape[i].pid, SIGKILL);
	/* Its parent has ended: only this process waits for it, so its pid is not reused.
	 */
	for (size_t i = 0; i < fleet->process_count; i++) {
		pid_t pid = fleet->process[i].pid;

		if (!waitid(P_PID, pid, NULL, WEXITED | WNOHANG | WNOWAIT))
			kill(pid, SIGKILL);
	}
	while (wait(NULL) > 0 || errno == EINTR)
		;
	return fleet->failed;
}

int main(int argc, char **argv)
{
	static struct fleet fleet;

	if (argc >= 4 && !strcmp(argv[1], "--shape")) {
		die_with_parent(atoi(argv[3]));
		be(argv[2], argv[4] ? argv[4] : find_shape(argv[2])->steps);
	}
	if (argc == 5 && !strcmp(argv[1], "--go-on")) {
		role_goes_on(atoi(argv[3]));
		be(argv[2], argv[4]);
	}
	if (argc == 2 && !strcmp(argv[1], "--exit"))
		return 0;
	if (argc >= 3 && !strcmp(argv[1], "--idle")) {
		if (argc > 3)
			prctl(PR_SET_NAME, argv[3]);
		role_goes_on(atoi(argv[2]));
		tell_ready();
		idle_forever();
	}
	if (argc == 2 && !strcmp(argv[1], "list"))
		return list_shapes();
	if (choose(&fleet, argc - 1, argv + 1))
		return 2;
	return keep(&fleet);
}
