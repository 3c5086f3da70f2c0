// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Decides when a document is too old, collects a new one, and passes it on. */
#include "serve/serve.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "collect/oom_moment.h"
#include "model/snapshot_codec.h"
#include "serve/channel.h"
#include "serve/files_reader.h"
#include "session/background.h"
#include "session/log.h"
#include "session/replay.h"
#include "session/session.h"

/* The page frames are a quarter of a snapshot, and change slowly: not with each scrape. */
#define CENSUS_PAUSE_US 60000000

#define HOUR_MS		(60 * 60 * 1000)

struct snapshot_server {
	struct session session;
	struct self_usage usage;
	struct answer last;	   /* the answer with the last snapshot */
	int memfd;		   /* the last snapshot; -1: none yet */
	struct files_reader files; /* without a source unless asked for (--files) */
	int files_memfd;	   /* its last document; -1: none yet */
	struct oom_watch *oom;	   /* NULL: kills are not watched */
	struct oom_moment moment;
	struct event_record kill; /* the last one */
	bool unsent;		  /* it must be sent again */
	struct strbuf bytes;
	unsigned idle; /* snapshots in a row that needed far less than bytes.cap */
	int channel;
};

static void add_collection(struct snapshot_server *s)
{
	const struct collection *found = &s->session.collector.snapshot.collection;
	struct collected *sum = &s->last.collected;

	sum->gone += found->gone;
	sum->denied += found->denied;
	sum->timeout += found->timeout;
	sum->raced += found->raced;
	sum->not_seen += found->not_seen;
	sum->collections++;
}

static void copy_text(char *to, size_t cap, const char *text)
{
	snprintf(to, cap, "%s", text ? text : "");
}

/* The last kill, if it was watched, has its time and its names. */
static void name_last_kill(const struct snapshot_server *s, struct recent_kills *kills)
{
	const struct event_record *e = &s->kill;

	if (!kills->count || e->time_ms <= kills->last_ms ||
	    e->time_ms + HOUR_MS < s->session.collector.snapshot.time_ms)
		return;
	kills->last_ms = e->time_ms;
	copy_text(kills->name, sizeof(kills->name), event_text(e, EVENT_NAME));
	copy_text(kills->cgroup, sizeof(kills->cgroup), event_text(e, EVENT_CGROUP));
}

/* Collects all that any request may need: requests do not reach this process. */
static int collect_snapshot(struct snapshot_server *s)
{
	struct collector *c = &s->session.collector;
	struct result result;
	uint64_t start = clock_us(CLOCK_MONOTONIC);
	int r = 0;

	/* A recording always gives its last frame that can be read. */
	if (s->session.options->replay)
		r = session_turn_to(&s->session, s->session.replay.frame);
	if (r == 0)
		r = session_collect(&s->session, &result);
	if (r)
		return -EIO;
	if (!collector_replays(c))
		r = session_read_memcgs(&s->session, true);
	if (room_is_idle(s->bytes.cap, s->bytes.len, &s->idle))
		strbuf_done(&s->bytes);
	strbuf_clear(&s->bytes);
	if (r == 0)
		r = snapshot_encode(&c->snapshot, NULL, &s->bytes);
	if (r == 0)
		r = channel_seal(&s->bytes);
	if (r < 0) {
		log_errno(r, "collecting");
		return r;
	}
	close_fd(&s->memfd);
	s->memfd = r;
	add_collection(s);
	s->last.kills = c->snapshot.system.recent_kills;
	name_last_kill(s, &s->last.kills);
	s->last.kind = ANSWER_DOCUMENT;
	s->last.size = s->bytes.len;
	s->last.taken_us = start;
	return 0;
}

static int send_answer(struct snapshot_server *s, struct answer *answer, int memfd)
{
	cost_read(&s->usage, &answer->cost);
	return channel_send_answer(s->channel, answer, memfd);
}

static int answer_with_snapshot(struct snapshot_server *s, uint32_t age_ms)
{
	uint64_t now = clock_us(CLOCK_MONOTONIC);
	bool fresh = s->memfd >= 0 && now - s->last.taken_us <= (uint64_t)age_ms * 1000;
	struct answer answer;

	if (!fresh && collect_snapshot(s) < 0) {
		s->last.collected.failures++;
		answer = s->last;
		answer.kind = ANSWER_FAILED;
		return send_answer(s, &answer, -1);
	}
	answer = s->last;
	return send_answer(s, &answer, s->memfd);
}

/* Returns why there is no document, or NULL. */
static const char *read_files(struct snapshot_server *s, uint32_t age_ms)
{
	int r;

	if (!s->files.source)
		return "files are not served";
	r = files_reader_read(&s->files, (uint64_t)age_ms * 1000, s->session.collector.swap);
	if (r == -ENOTSUP)
		return "this kernel's lists of files are not understood";
	if (r == 1)
		close_fd(&s->files_memfd);
	/* Also a document that could not be sealed when it was new. */
	if (r >= 0 && s->files_memfd < 0) {
		r = channel_seal(&s->files.document);
		s->files_memfd = r < 0 ? -1 : r;
	}
	if (r < 0) {
		log_errno(r, "reading the lists of files");
		return strerror(-r);
	}
	return NULL;
}

static int answer_with_files(struct snapshot_server *s, uint32_t age_ms)
{
	const char *why = read_files(s, age_ms);
	struct answer answer = s->last;

	answer.kind = why ? ANSWER_FAILED : ANSWER_DOCUMENT;
	answer.document = DOCUMENT_FILES;
	answer.size = s->files.document.len;
	answer.taken_us = s->files.taken_us;
	snprintf(answer.failed, sizeof(answer.failed), "%s", why ? why : "");
	return send_answer(s, &answer, why ? -1 : s->files_memfd);
}

/* ---- OOM kills ---- */

static void describe_kill(struct snapshot_server *s, const struct oom_kill *kill)
{
	struct collector *c = &s->session.collector;
	int r = oom_moment_complete(&s->moment, c, kill);

	if (r < 0)
		log_errno(r, "naming PID %d, which the OOM killer chose", kill->pid);
	oom_moment_describe(&s->moment, kill, &s->kill);
}

static int send_kill(struct snapshot_server *s)
{
	int r = channel_send_kill(s->channel, &s->kill);

	s->unsent = r == -EAGAIN;
	return s->unsent ? 0 : r;
}

/* Passes on the kills that have come. Those that the channel has no room for wait in the kernel. */
static int pass_on_kills(struct snapshot_server *s)
{
	struct oom_kill kill;
	int r = s->unsent ? send_kill(s) : 0;

	while (r == 0 && !s->unsent) {
		r = oom_watch_next(s->oom, &kill, &s->moment.snapshot);
		if (r < 0)
			log_errno(r, "reading OOM kills");
		if (r <= 0)
			return 0;
		describe_kill(s, &kill);
		r = send_kill(s);
	}
	return r;
}

/* Returns -EINTR if a signal ends the process. */
static int wait_and_answer(struct snapshot_server *s, int signals)
{
	struct pollfd fds[] = {
		{s->channel, (short)(POLLIN | (s->unsent ? POLLOUT : 0)), 0},
		{signals, POLLIN, 0},
		{s->oom && !s->unsent ? oom_watch_fd(s->oom) : -1, POLLIN, 0},
	};
	enum document document = DOCUMENT_SNAPSHOT;
	uint32_t age_ms = 0;
	int r;

	if (poll(fds, ARRAY_SIZE(fds), -1) < 0)
		return errno == EINTR ? 0 : -errno;
	if (fds[1].revents)
		return -EINTR;
	r = fds[2].revents || fds[0].revents & POLLOUT ? pass_on_kills(s) : 0;
	if (r < 0)
		return r;
	r = channel_receive_request(s->channel, &document, &age_ms);
	if (r == -EAGAIN || r == -EINTR)
		return 0;
	if (r < 0)
		return r;
	return document == DOCUMENT_FILES ? answer_with_files(s, age_ms)
					  : answer_with_snapshot(s, age_ms);
}

/* Waits for the HTTP process. Returns its exit code. */
static int wait_for_http(pid_t http)
{
	int status;

	while (waitpid(http, &status, 0) < 0) {
		if (errno != EINTR)
			return EXIT_FAILED;
	}
	if (WIFSIGNALED(status))
		return log_error("serving: the process that speaks HTTP was ended by signal %d",
				 WTERMSIG(status));
	/* The HTTP process has logged the reason. */
	return WEXITSTATUS(status);
}

static int loop(struct snapshot_server *s, int signals)
{
	int r = 0;

	while (r == 0)
		r = wait_and_answer(s, signals);
	if (r == -EINTR || r == -EPIPE)
		return EXIT_DONE;
	return log_errno(r, "serving");
}

static int open_files(struct snapshot_server *s)
{
	cleanup(diag_clear) struct diag diag = {};
	int r = files_reader_open(&s->files, &diag);

	return r < 0 ? log_refusal(diag.count ? &diag.note[0] : NULL, r) : 0;
}

static int open_measure(struct snapshot_server *s, const struct options *o)
{
	struct collect_spec spec = session_spec(o);
	struct recent_kills kills = {};
	int r = o->files ? open_files(s) : 0;

	if (r)
		return r;
	/* Later, no file can be opened. */
	if (!o->replay)
		replay_recent_kills(&kills, NULL);
	/* All rows, with all names that JSON has. Each request makes its own groups. */
	spec.continuous = true;
	if (!spec.readers)
		spec.readers = 1;
	spec.files = FILES_SHMEM;
	spec.ram = RAM_SUMS;
	spec.waits = true;
	spec.census_pause_us = CENSUS_PAUSE_US;
	spec.names = NEEDS_USER | NEEDS_CGROUP | NEEDS_PROGRAM | NEEDS_APP;
	if (o->replay)
		snprintf(s->last.kills_unwatched, SESSION_REASON, "this is a recording");
	else
		s->oom = session_watch_kills(o, ZMEM_OOM_VICTIMS, "counted",
					     s->last.kills_unwatched);
	s->moment.log_read = s->oom && oom_watch_reads_log(s->oom);
	r = session_open(&s->session, o, &spec);
	s->session.collector.kills.before = kills;
	s->session.query.group = NULL;
	s->session.query.top = 0;
	return r;
}

int serve_snapshots(const struct options *o, int channel, int signals, pid_t http)
{
	struct snapshot_server s = {.session = SESSION_CLOSED,
				    .memfd = -1,
				    .files = FILES_READER_CLOSED,
				    .files_memfd = -1,
				    .channel = channel};
	const struct answer end = {.kind = ANSWER_END};
	struct background background;
	int r, ended;

	self_usage_open(&s.usage);
	r = open_measure(&s, o);
	/* Memory that is locked could not be given back after loading. */
	background_begin(&background, o);
	if (r == 0)
		r = loop(&s, signals);
	channel_send_answer(channel, &end, -1);
	close(channel);
	ended = wait_for_http(http);
	session_close(&s.session);
	oom_watch_close(s.oom);
	snapshot_done(&s.moment.snapshot);
	strbuf_done(&s.bytes);
	self_usage_close(&s.usage);
	background_done(&background);
	files_reader_close(&s.files);
	close_fd(&s.memfd);
	close_fd(&s.files_memfd);
	return r ? r : ended;
}
