// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The event loop of the HTTP process: new connections, requests, snapshots, history and the end. */
#include "serve/serve.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "serve/peer.h"
#include "serve/requests.h"
#include "serve/sandbox.h"
#include "session/log.h"
#include "session/options.h"

#define WHY_MAX	   512
#define FDS_MAX	   (CONNECTIONS_MAX + LISTENERS_MAX + 32)
#define FDS_SPARE  2 /* a connection that replaces another, and the next snapshot */
#define MEMORY_MAX (UINT64_C(1) << 30)
#define SWEEP_MS   1000
#define FULL_MS	   10
#define STEP_US	   (HISTORY_STEP_S * UINT64_C(1000000))

enum fixed_fd {
	FD_CHANNEL,
	FD_SIGNALS,
	FD_HTTP,
	FD_LISTENERS,
};

struct http {
	struct requests requests;
	struct pollfd fds[FD_LISTENERS + LISTENERS_MAX];
	size_t fd_count;
	uint64_t history_us;	   /* when the next point is due */
	bool history_due;	   /* the next snapshot becomes a point */
	uint64_t accept_paused_us; /* no accept() until then: descriptors or memory ran out */
};

static int next_timeout(struct http *h, uint64_t now)
{
	uint64_t left_ms;
	MHD_UNSIGNED_LONG_LONG wanted;

	left_ms = h->history_us > now ? (h->history_us - now) / 1000 + 1 : 0;
	if ((connections_used(&h->requests.connections) || now < h->accept_paused_us) &&
	    left_ms > SWEEP_MS)
		left_ms = SWEEP_MS;
	if (now < h->accept_paused_us && left_ms > (h->accept_paused_us - now) / 1000 + 1)
		left_ms = (h->accept_paused_us - now) / 1000 + 1;
	if (h->requests.mhd.get_timeout(h->requests.daemon, &wanted) == MHD_YES && wanted < left_ms)
		left_ms = wanted;
	return (int)left_ms;
}

static bool is_pending(int listener)
{
	struct pollfd fd = {listener, POLLIN, 0};

	return poll(&fd, 1, 0) == 1;
}

/*
 * Accepts up to 64 pending connections, so that other work gets its turn. After a failure for want
 * of files or memory, accept() pauses for SWEEP_MS: the listener stays readable, and the loop
 * would spin. While all connections wait for a snapshot, new ones wait in the kernel's queue.
 */
static void accept_connections(struct http *h, size_t number)
{
	const struct listeners *l = &h->requests.server.config->listeners;
	int listener = l->fd[number];

	for (int i = 0; i < 64 && is_pending(listener); i++) {
		int fd;

		if (!requests_make_room(&h->requests)) {
			h->accept_paused_us = clock_us(CLOCK_MONOTONIC) + FULL_MS * 1000;
			return;
		}
		fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd < 0 && (file_exhausted(-errno) || errno == ENOBUFS))
			h->accept_paused_us = clock_us(CLOCK_MONOTONIC) + SWEEP_MS * 1000;
		if (fd < 0)
			return;
		requests_add(&h->requests, fd, l->name[number]);
	}
}

static void update_listener_events(struct http *h, uint64_t now)
{
	for (size_t i = FD_LISTENERS; i < h->fd_count; i++)
		h->fds[i].events = now < h->accept_paused_us ? 0 : POLLIN;
}

static int receive_answer(struct http *h)
{
	struct server *s = &h->requests.server;
	bool history = h->history_due;
	int r = snapshot_client_receive(&s->client);
	const struct asked *a;
	enum document d;

	if (r == -EAGAIN || r == -EINTR)
		return 0;
	if (r < 0)
		return r;
	if (r == ARRIVED_KILL) {
		kill_log_add(&s->kills, &s->client.kill, &s->groups.result);
		return 0;
	}
	d = (enum document)s->client.last.document;
	a = &s->client.asked[d];
	if (a->error)
		log_errno(a->error, "serving: receiving a document");
	if (d == DOCUMENT_SNAPSHOT && a->number && !a->failing) {
		h->history_due = false;
		/* Without memory for it, requests fail with 503. */
		server_update(s, history);
	}
	requests_resume(&h->requests);
	return 0;
}

/* Asks for a snapshot when a point of the history is due. A snapshot of half a step ago is new
 * enough. */
static int request_history_point(struct http *h)
{
	uint64_t now = clock_us(CLOCK_MONOTONIC);

	if (now < h->history_us)
		return 0;
	h->history_us += STEP_US;
	if (h->history_us <= now)
		h->history_us = now + STEP_US;
	h->history_due = true;
	return snapshot_client_ask(&h->requests.server.client, DOCUMENT_SNAPSHOT, now,
				   HISTORY_STEP_S * 1000 / 2);
}

static int run_once(struct http *h)
{
	struct requests *c = &h->requests;
	uint64_t now = clock_us(CLOCK_MONOTONIC);
	int r;

	update_listener_events(h, now);
	if (poll(h->fds, h->fd_count, next_timeout(h, now)) < 0 && errno != EINTR)
		return -errno;
	if (h->fds[FD_SIGNALS].revents)
		return -ESHUTDOWN;
	r = h->fds[FD_CHANNEL].revents ? receive_answer(h) : 0;
	if (r < 0)
		return r;
	for (size_t i = FD_LISTENERS; i < h->fd_count; i++) {
		if (h->fds[i].revents)
			accept_connections(h, i - FD_LISTENERS);
	}
	requests_sweep(c);
	if (c->waiting)
		requests_resume(c);
	c->mhd.run(c->daemon);
	r = request_history_point(h);
	return r < 0 ? r : c->error;
}

/* Limits the connections to the descriptors that are left under RLIMIT_NOFILE. */
static int limit_connections(struct requests *c)
{
	struct rlimit limit;
	struct cost cost;
	size_t room;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return -errno;
	cost_read(&c->server.usage, &cost);
	room = limit.rlim_max < FDS_MAX ? (size_t)limit.rlim_max : FDS_MAX;
	if (room <= cost.fds + FDS_SPARE)
		return -EMFILE;
	room -= cost.fds + FDS_SPARE;
	c->connections.closed = room < CONNECTIONS_MAX ? CONNECTIONS_MAX - room : 0;
	return 0;
}

/* Without an answer of the kernel, all clients of this machine are one source. */
static int open_peers(struct requests *c, const struct serve_config *config)
{
	int r = peer_open(config->listeners.fd, config->listeners.count, &c->diag);

	if (r < 0 && file_exhausted(r))
		return r;
	if (r < 0)
		log_notice(config->options->quiet,
			   "clients on this machine share their connections: the kernel does not "
			   "name their users (sock_diag: %s)",
			   strerror(-r));
	return 0;
}

static int start(struct http *h, const struct serve_config *config, int channel, int signals)
{
	struct requests *c = &h->requests;
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
	finder_init(&c->server.finder, seed);
	r = group_tracker_init(&c->server.tracker, config->groups, seed);
	if (r == 0)
		r = kill_log_init(&c->server.kills, selection_group(config->group), config->groups);
	if (r < 0)
		return r;
	h->fds[FD_CHANNEL] = (struct pollfd){channel, POLLIN, 0};
	h->fds[FD_SIGNALS] = (struct pollfd){signals, POLLIN, 0};
	h->fds[FD_HTTP] = (struct pollfd){info->epoll_fd, POLLIN, 0};
	h->fd_count = FD_LISTENERS;
	for (size_t i = 0; i < config->listeners.count; i++)
		h->fds[h->fd_count++] = (struct pollfd){config->listeners.fd[i], POLLIN, 0};
	c->server.config = config;
	c->server.client.channel = channel;
	self_usage_open(&c->server.usage);
	r = open_peers(c, config);
	return r < 0 ? r : limit_connections(c);
}

/*
 * Whether the collector process announced its end before it closed the channel. A request that it
 * did not read is reported first, as -EPIPE.
 */
static bool received_end(struct snapshot_client *client)
{
	int r = 0, failed = 0;

	while (r != -ESHUTDOWN && failed < 4) {
		r = snapshot_client_receive(client);
		failed += r < 0;
	}
	return r == -ESHUTDOWN;
}

static int run(struct http *h, const struct serve_config *config, int channel, int signals)
{
	char why[WHY_MAX];
	int r = microhttpd_load(&h->requests.mhd, why, sizeof(why));

	if (r < 0)
		return log_error("serve: %s", why);
	listeners_log(&config->listeners, config->options->quiet);
	prctl(PR_SET_NAME, "zmem-bpf-http", 0, 0, 0);
	r = start(h, config, channel, signals);
	if (r < 0)
		return log_errno(r, "serving");
	r = sandbox_enter(FDS_MAX, MEMORY_MAX);
	if (r < 0)
		return log_errno(r, "serving: entering the sandbox");
	while (r == 0)
		r = run_once(h);
	if (r == -ESHUTDOWN || (r == -EPIPE && received_end(&h->requests.server.client)))
		return EXIT_DONE;
	if (r == -EPIPE)
		return log_error("serving: the collector process has ended");
	return log_errno(r, "serving");
}

int serve_http(const struct serve_config *config, int channel, int signals)
{
	cleanup_free struct http *h = calloc(1, sizeof(*h));
	int r;

	if (!h)
		return log_error("serving: out of memory");
	h->requests.diag = -1;
	r = run(h, config, channel, signals);
	requests_stop(&h->requests);
	server_done(&h->requests.server);
	return r;
}
