// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "session/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "session/log.h"

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
	/* This program ignores them, and a command would go on to do so. */
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	execvp(l->argv[0], l->argv);
	error = errno;
	n = write(failed_fd, &error, sizeof(error));
	_exit(n == sizeof(error) ? 127 : 126);
}

int launch_fork(struct launch *l, char *const *argv)
{
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
	l->pid = fork();
	if (l->pid == 0)
		wait_and_execute(l, go[0], failed[1]);
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
	/* Its end of the pipe is closed when it is executed. */
	do
		n = read(l->failed_fd, &error, sizeof(error));
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return 0;
	waitpid(l->pid, NULL, 0);
	l->pid = 0;
	l->error = error;
	log_errno(-error, "executing %s", l->argv[0]);
	return error == ENOENT ? EXIT_NOT_FOUND : EXIT_FAILED;
}

void launch_end(struct launch *l, bool ended, bool quiet)
{
	int status;

	if (!l->pid || l->go_fd >= 0)
		return;
	if (!ended && kill(l->pid, SIGTERM) < 0 && errno == EPERM) {
		log_notice(quiet, "%s runs on: it is another user's now", l->argv[0]);
		return;
	}
	if (waitpid(l->pid, &status, 0) != l->pid)
		return;
	l->pid = 0;
	/* At the end of -c it is ended, as was asked for. */
	if (!ended && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM)
		return;
	if (WIFSIGNALED(status))
		log_notice(quiet, "%s ended by signal %d (%s)", l->argv[0], WTERMSIG(status),
			   strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status))
		log_notice(quiet, "%s ended with exit code %d", l->argv[0], WEXITSTATUS(status));
}

void launch_close(struct launch *l)
{
	if (l->go_fd >= 0) {
		close(TAKE_FD(l->go_fd));
		if (l->pid)
			waitpid(l->pid, NULL, 0);
	}
	if (l->failed_fd >= 0)
		close(TAKE_FD(l->failed_fd));
}
