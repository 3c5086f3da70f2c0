// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Knows when a snapshot is still good enough, what goes with it, and how to end. */
#include "serve/collector.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/background.h"
#include "cli/log.h"
#include "cli/session.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/grow.h"
#include "model/snapshot_codec.h"
#include "serve/channel.h"
#include "serve/cost.h"
#include "enrich/memcgs.h"

struct collector {
	struct options options;
	struct session session;
	struct self_usage own;
	struct answer last; /* of kind SNAPSHOT once there was one */
	int memfd;	    /* of it, -1 without */
	struct strbuf bytes;
	unsigned idle; /* how often in a row they were far fewer */
	int channel;
};

static void count(struct collector *c)
{
	const struct collection *found = &c->session.snapshot.collection;
	uint64_t *errors = c->last.errors;

	errors[ERROR_GONE] += found->gone;
	errors[ERROR_DENIED] += found->denied;
	errors[ERROR_TIMEOUT] += found->timeout;
	errors[ERROR_RACED] += found->raced;
	c->last.collections++;
}

/* Everything that any request may ask for, since none of them comes here. */
static int collect_snapshot(struct collector *c)
{
	struct snapshot *snapshot = &c->session.snapshot;
	struct result result;
	uint64_t start = clock_us(CLOCK_MONOTONIC);
	int r = 0;

	/* Of a recording it is the last frame each time. */
	if (session_replays(&c->session))
		r = session_replay_frame(&c->session, c->session.replay.frames);
	if (r == 0)
		r = session_collect(&c->session, 0, &result);
	if (r)
		return -EIO;
	if (!session_replays(&c->session))
		r = memcgs_read(&c->session.proc, snapshot, &c->session.rows);
	if (room_is_idle(c->bytes.cap, c->bytes.len, &c->idle))
		strbuf_done(&c->bytes);
	strbuf_clear(&c->bytes);
	if (r == 0)
		r = snapshot_encode(snapshot, NULL, &c->bytes);
	if (r == 0)
		r = channel_seal(&c->bytes);
	if (r < 0) {
		log_errno(r, "collecting");
		return r;
	}
	if (c->memfd >= 0)
		close(c->memfd);
	c->memfd = r;
	count(c);
	c->last.kind = ANSWER_SNAPSHOT;
	c->last.size = c->bytes.len;
	c->last.taken_us = start;
	return 0;
}

static int answer(struct collector *c, uint32_t age_ms)
{
	uint64_t now = clock_us(CLOCK_MONOTONIC);
	bool fresh = c->memfd >= 0 && now - c->last.taken_us <= (uint64_t)age_ms * 1000;
	struct answer failed;

	if (!fresh && collect_snapshot(c) < 0) {
		c->last.failures++;
		failed = c->last;
		failed.kind = ANSWER_FAILED;
		cost_read(&c->own, &failed.cost);
		return channel_answer(c->channel, &failed, -1);
	}
	cost_read(&c->own, &c->last.cost);
	return channel_answer(c->channel, &c->last, c->memfd);
}

/* -EINTR: a signal says to end. */
static int wait_and_answer(struct collector *c, int signals)
{
	struct pollfd fds[] = {{c->channel, POLLIN, 0}, {signals, POLLIN, 0}};
	uint32_t age_ms;
	int r;

	if (poll(fds, ARRAY_SIZE(fds), -1) < 0)
		return errno == EINTR ? 0 : -errno;
	if (fds[1].revents)
		return -EINTR;
	r = channel_asked(c->channel, &age_ms);
	if (r == -EAGAIN || r == -EINTR)
		return 0;
	return r < 0 ? r : answer(c, age_ms);
}

/* How the other one ended, as our exit code. */
static int reap(pid_t http)
{
	int status;

	while (waitpid(http, &status, 0) < 0) {
		if (errno != EINTR)
			return EXIT_FAILED;
	}
	if (WIFSIGNALED(status))
		return log_error("serving: the process that speaks HTTP was ended by signal %d",
				 WTERMSIG(status));
	/* It has said why. */
	return WEXITSTATUS(status);
}

static int loop(struct collector *c, int signals)
{
	int r = 0;

	while (r == 0)
		r = wait_and_answer(c, signals);
	if (r == -EINTR || r == -EPIPE)
		return EXIT_DONE;
	return log_errno(r, "serving");
}

int collector_run(const struct options *o, int channel, int signals, pid_t http)
{
	struct collector c = {.options = *o, .memfd = -1, .channel = channel};
	const struct answer end = {.kind = ANSWER_END};
	struct background background;
	int r, ended;

	background_begin(&background, o);
	self_usage_open(&c.own);
	/* All rows with all that JSON has of them. */
	c.options.format = FORMAT_JSON;
	c.options.group = 0;
	c.options.top = 0;
	c.options.continuous = true;
	r = session_open(&c.session, &c.options);
	if (r == 0)
		r = loop(&c, signals);
	channel_answer(channel, &end, -1);
	close(channel);
	ended = reap(http);
	session_close(&c.session);
	strbuf_done(&c.bytes);
	self_usage_close(&c.own);
	background_done(&background);
	if (c.memfd >= 0)
		close(c.memfd);
	return r ? r : ended;
}
