// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The loop: newcomers, requests, snapshots, history, the end. Knows what comes first. */
#include "serve/http.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "cli/log.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "serve/requests.h"
#include "serve/cost.h"
#include "serve/sandbox.h"

#define WHY_MAX	   512
#define FDS_MAX	   (CONNECTIONS_MAX + LISTENERS_MAX + 32)
#define FDS_SPARE  2 /* whoever comes while there is no room, and the next snapshot */
#define MEMORY_MAX (UINT64_C(1) << 30)
#define SWEEP_MS   1000
#define STEP_US	   (HISTORY_STEP_S * UINT64_C(1000000))

enum fixed_fd {
	FD_CHANNEL,
	FD_SIGNALS,
	FD_HTTP,
	FD_LISTENERS,
};

struct http {
	struct requests calls;
	struct pollfd fds[FD_LISTENERS + LISTENERS_MAX];
	size_t fd_count;
	uint64_t history_us; /* when the next point is due */
	bool history_due;    /* the next snapshot is one */
	uint64_t deaf_us;    /* until then newcomers wait: there is nothing to take them with */
};

static int next_timeout(struct http *h, uint64_t now)
{
	uint64_t left_ms;
	MHD_UNSIGNED_LONG_LONG wanted;

	left_ms = h->history_us > now ? (h->history_us - now) / 1000 + 1 : 0;
	if ((connections_used(&h->calls.slots) || now < h->deaf_us) && left_ms > SWEEP_MS)
		left_ms = SWEEP_MS;
	if (h->calls.mhd.get_timeout(h->calls.daemon, &wanted) == MHD_YES && wanted < left_ms)
		left_ms = wanted;
	return (int)left_ms;
}

/*
 * As many as are there, but not for ever. A socket that somebody waits at is ready all the time:
 * who cannot be taken in (ENFILE, no memory) is looked for again in a while.
 */
static void accept_some(struct http *h, int listener)
{
	for (int i = 0; i < 64; i++) {
		int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd < 0 && (file_exhausted(-errno) || errno == ENOBUFS))
			h->deaf_us = clock_us(CLOCK_MONOTONIC) + SWEEP_MS * 1000;
		if (fd < 0)
			return;
		requests_add(&h->calls, fd);
	}
}

static void listen_or_not(struct http *h, uint64_t now)
{
	for (size_t i = FD_LISTENERS; i < h->fd_count; i++)
		h->fds[i].events = now < h->deaf_us ? 0 : POLLIN;
}

static int take_snapshot(struct http *h)
{
	struct server *s = &h->calls.server;
	bool history = h->history_due;
	int r = snapshot_client_receive(&s->feed);

	if (r == -EAGAIN || r == -EINTR)
		return 0;
	if (r < 0)
		return r;
	if (s->feed.error)
		log_errno(s->feed.error, "serving: taking a snapshot");
	if (s->feed.number && !s->feed.failing) {
		h->history_due = false;
		/* Without memory for it, those who ask are told. */
		server_learn(s, history);
	}
	requests_resume(&h->calls);
	return 0;
}

/* A point of the history every so often, with whatever snapshot there is anyway. */
static int keep_history(struct http *h)
{
	uint64_t now = clock_us(CLOCK_MONOTONIC);
	int r;

	if (now < h->history_us)
		return 0;
	h->history_us += STEP_US;
	if (h->history_us <= now)
		h->history_us = now + STEP_US;
	h->history_due = true;
	r = snapshot_client_ask(&h->calls.server.feed, now, HISTORY_STEP_S * 1000 / 2);
	return r == -EAGAIN ? 0 : r;
}

static int turn(struct http *h)
{
	struct requests *c = &h->calls;
	uint64_t now = clock_us(CLOCK_MONOTONIC);
	int r;

	listen_or_not(h, now);
	if (poll(h->fds, h->fd_count, next_timeout(h, now)) < 0 && errno != EINTR)
		return -errno;
	if (h->fds[FD_SIGNALS].revents)
		return -ESHUTDOWN;
	r = h->fds[FD_CHANNEL].revents ? take_snapshot(h) : 0;
	if (r < 0)
		return r;
	for (size_t i = FD_LISTENERS; i < h->fd_count; i++) {
		if (h->fds[i].revents)
			accept_some(h, h->fds[i].fd);
	}
	requests_sweep(c);
	if (c->waiting)
		requests_resume(c);
	c->mhd.run(c->daemon);
	r = keep_history(h);
	return r < 0 ? r : c->error;
}

/* No more connections than there are descriptors for: one more would be waited for in vain. */
static int make_room(struct requests *c)
{
	struct rlimit limit;
	struct cost cost;
	size_t room;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return -errno;
	cost_read(&c->server.own, &cost);
	room = limit.rlim_max < FDS_MAX ? (size_t)limit.rlim_max : FDS_MAX;
	if (room <= cost.fds + FDS_SPARE)
		return -EMFILE;
	room -= cost.fds + FDS_SPARE;
	c->slots.closed = room < CONNECTIONS_MAX ? CONNECTIONS_MAX - room : 0;
	return 0;
}

static int start(struct http *h, const struct serve_config *config, int channel, int signals)
{
	struct requests *c = &h->calls;
	const union MHD_DaemonInfo *info;
	uint64_t seed;
	int r = requests_start(c);

	if (r < 0)
		return r;
	info = c->mhd.get_daemon_info(c->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	c->server.history = calloc(1, sizeof(*c->server.history));
	if (!info || !c->server.history || getrandom(&seed, sizeof(seed), 0) < 0)
		return -ENOMEM;
	c->server.counts.start_ms = (int64_t)(clock_us(CLOCK_REALTIME) / 1000);
	r = group_tracker_init(&c->server.tracked, config->groups, seed);
	if (r < 0)
		return r;
	h->fds[FD_CHANNEL] = (struct pollfd){channel, POLLIN, 0};
	h->fds[FD_SIGNALS] = (struct pollfd){signals, POLLIN, 0};
	h->fds[FD_HTTP] = (struct pollfd){info->epoll_fd, POLLIN, 0};
	h->fd_count = FD_LISTENERS;
	for (size_t i = 0; i < config->listeners.count; i++)
		h->fds[h->fd_count++] = (struct pollfd){config->listeners.fd[i], POLLIN, 0};
	c->server.config = config;
	c->server.feed.channel = channel;
	self_usage_open(&c->server.own);
	return make_room(c);
}

/*
 * Whether the other one said so before it went. A question that it never read comes back as an
 * error of its own, before what it said.
 */
static bool was_told(struct snapshot_client *f)
{
	for (int i = 0; i < 4; i++) {
		if (snapshot_client_receive(f) == -ESHUTDOWN)
			return true;
	}
	return false;
}

static int run(struct http *h, const struct serve_config *config, int channel, int signals)
{
	char why[WHY_MAX];
	int r = microhttpd_load(&h->calls.mhd, why, sizeof(why));

	if (r < 0)
		return log_error("serve: %s", why);
	listeners_tell(&config->listeners, config->quiet);
	prctl(PR_SET_NAME, "zmem-bpf-http", 0, 0, 0);
	r = start(h, config, channel, signals);
	if (r < 0)
		return log_errno(r, "serving");
	r = sandbox_enter(FDS_MAX, MEMORY_MAX);
	if (r < 0)
		return log_errno(r, "serving: entering the sandbox");
	while (r == 0)
		r = turn(h);
	if (r == -ESHUTDOWN || (r == -EPIPE && was_told(&h->calls.server.feed)))
		return EXIT_DONE;
	if (r == -EPIPE)
		return log_error("serving: the process that collects is gone");
	return log_errno(r, "serving");
}

int http_run(const struct serve_config *config, int channel, int signals)
{
	cleanup_free struct http *h = calloc(1, sizeof(*h));
	int r;

	if (!h)
		return log_error("serving: out of memory");
	r = run(h, config, channel, signals);
	requests_stop(&h->calls);
	server_done(&h->calls.server);
	return r;
}
