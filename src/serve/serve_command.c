// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * zmem-bpf serve: starts and ends its two processes. The first collects. The second speaks HTTP and
 * enters its sandbox before it reads a byte from a client.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "serve/channel.h"
#include "serve/serve.h"
#include "session/background.h"
#include "session/log.h"
#include "session/options_check.h"
#include "session/ticker.h"

#define FIRST_FD 3 /* the first after the standard streams */

static int read_config(const struct options *o, struct serve_config *c)
{
	int r;

	*c = (struct serve_config){
		.options = o,
		.group = options_group(o),
		.groups = o->top ? (size_t)o->top : GROUPS_USUAL,
		.age_ms = o->interval_ms ? (uint32_t)o->interval_ms : INTERVAL_USUAL,
	};
	if (gethostname(c->host, sizeof(c->host) - 1) < 0)
		return log_errno(-errno, "reading the name of this host");
	/* With capabilities of the file alone, whoever runs the program has no right to names of
	 * files. */
	if (o->files && getauxval(AT_SECURE))
		return log_error("--files: names of files are private (run as root)");
	r = options_check_metrics(o);
	if (r == 0 && o->token_file)
		r = token_read(&c->token, o->token_file);
	if (r == 0)
		r = listeners_open(&c->listeners, o);
	if (r == 0 && !c->token.len && listeners_are_remote(&c->listeners))
		log_notice(o->quiet,
			   "every machine that can connect sees all processes, because no "
			   "token is needed (--token-file FILE)");
	return r;
}

/* Both processes read end signals from this descriptor. Call it before the first thread starts. */
static int open_signals(void)
{
	sigset_t set;
	int fd;

	end_signals(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

/*
 * RLIMIT_MEMLOCK binds the HTTP process, which has no capability. With a limit, memory is not
 * locked: later mappings would exceed the limit and fail.
 */
static void begin_in_background(const struct options *o)
{
	struct options own = *o;
	struct rlimit limit;
	struct background background;

	own.no_lock |= getrlimit(RLIMIT_MEMLOCK, &limit) < 0 || limit.rlim_cur != RLIM_INFINITY;
	background_begin(&background, &own);
	background_done(&background);
}

static int run(const struct options *o, struct serve_config *c)
{
	cleanup_close int signals = open_signals();
	int pair[2], r;
	pid_t http;

	r = signals < 0 ? signals : channel_pair(pair);
	if (r < 0)
		return log_errno(r, "starting");
	http = fork();
	if (http == 0) {
		close(pair[0]);
		begin_in_background(o);
		r = serve_http(c, pair[1], signals);
		close(pair[1]);
		return r;
	}
	r = -errno;
	close(pair[1]);
	listeners_close_fds(&c->listeners);
	if (http < 0) {
		close(pair[0]);
		return log_error("starting the HTTP process: %s%s", strerror(-r),
				 r == -EAGAIN ? " (pids.max, ulimit -u)" : "");
	}
	/* Closes pair[0] and `signals` and waits for the HTTP process. */
	return serve_snapshots(o, pair[0], signals, http);
}

int command_serve(const struct options *o)
{
	struct serve_config config;
	pid_t self = getpid();
	int r;

	/* Close other descriptors that the parent process left open. */
	syscall(SYS_close_range, (unsigned)(FIRST_FD + listeners_handed_over()), ~0U, 0);
	r = read_config(o, &config);

	if (r == 0)
		r = run(o, &config);
	/* Only the collector process removes the paths; the HTTP process has the sockets. */
	listeners_close(&config.listeners, getpid() == self);
	return r;
}
