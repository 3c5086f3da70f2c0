// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A thread reads what comes from the kernel: between two ticks the ring would fill. */
#include "top/growing.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/trim.h"
#include "collect/unseen.h"
#include "grow/grow.h"
#include "privilege/privilege.h"
#include "session/log.h"

/* It is read so often while messages come, and while none come. */
#define BUSY_MS 4
#define IDLE_MS 20

struct growing {
	struct procfs proc;
	struct grow *grow;
	struct grow_report report;
	pthread_t thread;
	bool running;
	pthread_mutex_t lock; /* of grow and error */
	int error;	      /* that ended the thread */
	int stop_fd;
};

static int pump(struct growing *g)
{
	int n;

	pthread_mutex_lock(&g->lock);
	n = grow_pump(g->grow);
	if (n < 0)
		g->error = n;
	pthread_mutex_unlock(&g->lock);
	return n;
}

static void *pump_until_stopped(void *arg)
{
	struct growing *g = arg;
	struct pollfd fd[] = {{.fd = g->stop_fd, .events = POLLIN},
			      {.fd = grow_fd(g->grow), .events = POLLIN}};
	int n = 0;

	while (n >= 0) {
		poll(fd, 2, n > 0 ? BUSY_MS : IDLE_MS);
		if (fd[0].revents)
			break;
		n = pump(g);
	}
	return NULL;
}

static int open_engine(struct growing *g)
{
	static const struct grow_spec spec = {.mode = GROWTH_DWARF};
	cleanup(diag_clear) struct diag diag = {};
	int r = procfs_open(&g->proc, "/proc");

	if (r < 0 || !g->proc.trusted)
		return log_error("grow: %s", r < 0 ? "/proc is not mounted"
						   : "/proc is of another pid namespace");
	/* Makes what was kept for loading effective, if anything was. */
	privilege_as_caller(false);
	r = grow_open(&spec, &g->proc, &diag, &g->grow);
	if (r < 0)
		return log_refusal(diag.count ? &diag.note[0] : NULL, r);
	grow_set_hurry(g->grow, g->stop_fd);
	return 0;
}

static int add(struct growing *g, pid_t pid)
{
	int r = grow_add(g->grow, pid);

	if (r == -ESRCH)
		return log_error("%d: %s", pid, collect_why_no_memory(&g->proc, pid));
	return r < 0 ? log_errno(r, "counting for process %d", pid) : 0;
}

int growing_start(pid_t pid, struct growing **ret)
{
	struct growing *g = calloc(1, sizeof(*g));
	int r;

	if (!g)
		return log_errno(-ENOMEM, "counting for process %d", pid);
	memory_trim_threads();
	g->proc.fd = -1;
	pthread_mutex_init(&g->lock, NULL);
	g->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = g->stop_fd < 0 ? log_errno(-errno, "counting for process %d", pid) : open_engine(g);
	if (r == 0)
		r = add(g, pid);
	if (r == 0) {
		int error = pthread_create(&g->thread, NULL, pump_until_stopped, g);

		g->running = error == 0;
		r = error ? log_errno(-error, "counting for process %d", pid) : 0;
	}
	if (r == 0)
		*ret = g;
	else
		growing_stop(g);
	return r;
}

const struct growth *growing_report(struct growing *g)
{
	struct grow_report next;
	int r;

	pthread_mutex_lock(&g->lock);
	r = g->error;
	if (r == 0) {
		r = grow_make_report(g->grow, &next);
		grow_report_done(&g->report);
		g->report = next;
	}
	pthread_mutex_unlock(&g->lock);
	if (r == 0)
		return &g->report.growth;
	log_errno(r, "counting what grows");
	return NULL;
}

void growing_stop(struct growing *g)
{
	const uint64_t one = 1;

	if (!g)
		return;
	if (g->running && write(g->stop_fd, &one, sizeof(one)) == sizeof(one))
		pthread_join(g->thread, NULL);
	if (g->stop_fd >= 0)
		close(g->stop_fd);
	grow_report_done(&g->report);
	grow_close(g->grow);
	procfs_close(&g->proc);
	pthread_mutex_destroy(&g->lock);
	free(g);
	/* Names and unwind tables are tens of MiB in small pieces. */
	memory_trim();
}
