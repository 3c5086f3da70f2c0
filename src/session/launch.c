// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "session/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "session/log.h"

static const struct {
	int number;
	void (*action)(int);
} own_signals[LAUNCH_SIGNALS] = {
	/* write() reports a closed pipe; a signal would end the program in the middle of a file. */
	{SIGPIPE, SIG_IGN},
	/* A file beyond RLIMIT_FSIZE is an error, too: its first half is removed again. */
	{SIGXFSZ, SIG_IGN},
	/* While it is ignored, wait(2) has no children that have ended. */
	{SIGCHLD, SIG_DFL},
};

void launch_set_signals(struct launch *l)
{
	for (int i = 0; i < LAUNCH_SIGNALS; i++) {
		const struct sigaction own = {.sa_handler = own_signals[i].action};

		sigaction(own_signals[i].number, &own, &l->inherited[i]);
	}
}

/* In the child: waits until it is released, then becomes the command. */
__attribute__((noreturn)) static void wait_and_execute(const struct launch *l, int wait_fd,
						       int failed_fd)
{
	ssize_t n;
	char byte;
	int error;

	/* The parent's end of the pipe is open here, too. */
	close(l->go_fd);
	do
		n = read(wait_fd, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(126);
	for (int i = 0; i < LAUNCH_SIGNALS; i++)
		sigaction(own_signals[i].number, &l->inherited[i], NULL);
	execvp(l->argv[0], l->argv);
	error = errno;
	n = write(failed_fd, &error, sizeof(error));
	_exit(n == sizeof(error) ? 127 : 126);
}

/* ---- what the command will map ---- */

#define MAPPED_MOST 16

struct mapped {
	void *at[MAPPED_MOST];
	size_t size[MAPPED_MOST], count;
};

/* False: there is no such file. What cannot be mapped is found later. */
static bool map_code(struct mapped *m, const char *path)
{
	struct stat st;
	cleanup_close int fd = -1;
	void *at;

	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) || m->count == MAPPED_MOST)
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	at = fd < 0 || !st.st_size
		     ? MAP_FAILED
		     : mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (at != MAP_FAILED) {
		m->at[m->count] = at;
		m->size[m->count++] = (size_t)st.st_size;
	}
	return true;
}

/* Each item of a list with one of these between them; `name` behind it, if there is one. */
static void map_listed(struct mapped *m, const char *list, const char *between, const char *name)
{
	char path[PATH_MAX];
	bool found = false;

	for (size_t len; list && *list && !(name && found); list += len + (list[len] != '\0')) {
		len = strcspn(list, between);
		if (snprintf(path, sizeof(path), "%.*s%s%s", (int)len, list, name ? "/" : "",
			     name ? name : "") < (int)sizeof(path) &&
		    strchr(path, '/'))
			found = map_code(m, path);
	}
}

/* The program, as execvp(3) finds it, and what the loader is told to load first. */
static void map_program(struct mapped *m, const char *name)
{
	if (strchr(name, '/'))
		map_code(m, name);
	else
		map_listed(m, getenv("PATH"), ":", name);
	map_listed(m, getenv("LD_PRELOAD"), ": ", NULL);
}

int launch_fork(struct launch *l, char *const *argv)
{
	struct mapped mapped = {};
	int go[2], failed[2];

	l->argv = argv;
	if (pipe2(go, O_CLOEXEC) < 0)
		return log_errno(-errno, "starting %s", argv[0]);
	l->go_fd = go[1];
	if (pipe2(failed, O_CLOEXEC) < 0) {
		close(go[0]);
		return log_errno(-errno, "starting %s", argv[0]);
	}
	l->failed_fd = failed[0];
	/* With rights that the caller lacks, no path of the caller is opened. */
	if (l->maps && !getauxval(AT_SECURE))
		map_program(&mapped, argv[0]);
	l->pid = fork();
	if (l->pid == 0)
		wait_and_execute(l, go[0], failed[1]);
	for (size_t i = 0; i < mapped.count; i++)
		munmap(mapped.at[i], mapped.size[i]);
	close(go[0]);
	close(failed[1]);
	if (l->pid < 0) {
		l->pid = 0;
		return log_errno(-errno, "starting %s", argv[0]);
	}
	return 0;
}

int launch_release(struct launch *l)
{
	int error = 0;
	ssize_t n = write(l->go_fd, "", 1);

	close(TAKE_FD(l->go_fd));
	if (n != 1)
		return log_errno(-errno, "starting %s", l->argv[0]);
	/* The command's end of the pipe is closed when the command is executed. */
	do
		n = read(l->failed_fd, &error, sizeof(error));
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return 0;
	launch_wait(l, 0);
	l->error = error;
	return log_errno(-error, "executing %s", l->argv[0]);
}

bool launch_wait(struct launch *l, int flags)
{
	pid_t pid = -1;

	if (!l->pid)
		return true;
	do
		pid = waitpid(l->pid, &l->status, flags);
	while (pid < 0 && errno == EINTR);
	if (pid == 0)
		return false;
	l->pid = 0;
	if (pid < 0)
		l->status = EXIT_UNMEASURED << 8;
	l->exit_code = WIFSIGNALED(l->status) ? 128 + WTERMSIG(l->status) : WEXITSTATUS(l->status);
	return true;
}

void launch_end(struct launch *l, bool ended, bool quiet)
{
	if (!l->pid || l->go_fd >= 0)
		return;
	if (!ended && kill(l->pid, SIGTERM) < 0 && errno == EPERM) {
		log_notice(quiet, "%s runs on: it is another user's now", l->argv[0]);
		return;
	}
	launch_wait(l, 0);
	/* At the end of -c it is ended, as was asked for. */
	if (!ended && l->exit_code == 128 + SIGTERM)
		l->exit_code = 0;
	else if (WIFSIGNALED(l->status))
		log_notice(quiet, "%s ended by signal %d (%s)", l->argv[0], WTERMSIG(l->status),
			   strsignal(WTERMSIG(l->status)));
	else if (l->exit_code)
		log_notice(quiet, "%s ended with exit code %d", l->argv[0], l->exit_code);
}

int launch_exit_code(const struct launch *l, int own)
{
	if (!own)
		return l->exit_code;
	return l->error == ENOENT ? EXIT_NO_COMMAND
	       : l->error	  ? EXIT_NOT_EXECUTED
				  : EXIT_UNMEASURED;
}

void launch_close(struct launch *l)
{
	if (l->go_fd >= 0) {
		close(TAKE_FD(l->go_fd));
		launch_wait(l, 0);
	}
	if (l->failed_fd >= 0)
		close(TAKE_FD(l->failed_fd));
}
