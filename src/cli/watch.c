// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A session that is collected from again and again, and the past of its rows. */
#include "cli/watch.h"

#include <string.h>
#include <sys/random.h>

#include "cli/log.h"

/* So many ticks in a row that fail are not going to succeed. */
#define FAILURES_MAX 10

int watch_open(struct watch *w, const struct options *o)
{
	uint64_t seed = 0;
	int r;

	*w = (struct watch){.options = *o, .session.proc.fd = -1, .background.own.statm = -1};
	if (o->grow && !o->sort)
		w->options.sort = "pss_swap_change";
	/* Of a seed that could not be had groups are told apart all the same. */
	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) < 0)
		seed = 0;
	delta_tracker_init(&w->tracker, seed, o->grow || o->delta == DELTA_START);
	r = session_open(&w->session, &w->options);
	if (r)
		return r;
	w->session.tracker = &w->tracker;
	w->session.delta = &w->delta;
	background_begin(&w->background, o);
	return 0;
}

bool watch_ended(const struct watch *w)
{
	return session_replays(&w->session) && w->frame >= w->session.replay.frames;
}

void watch_begin_delta(struct watch *w, uint64_t missed)
{
	const struct tracker *tracker = w->session.tracker;

	w->delta = (struct delta){
		.known = tracker->taken,
		.from_start = tracker->from_start,
		.since_ms = tracker->since_ms,
		.before = tracker->totals,
		.only_changed = w->options.changed,
		.tick = w->delta.tick,
		.missed = missed,
		.cost = w->background.cost,
	};
	/* Who is above it now and who was before are not the same. */
	if (w->options.min)
		w->delta.before = (struct totals){.processes = 1};
}

int watch_take(struct watch *w, uint64_t missed, size_t fit, struct result *ret)
{
	int r = 0;

	watch_begin_delta(w, missed);
	w->delta.tick++;
	if (session_replays(&w->session))
		r = session_replay_frame(&w->session, ++w->frame);
	return r ? r : session_collect(&w->session, fit, ret);
}

int watch_keep(struct watch *w, const struct result *r)
{
	int err = delta_tracker_update(&w->tracker, w->session.group, r->snapshot, &w->session.all,
				       &r->totals);

	background_tick(&w->background);
	return err < 0 ? log_errno(err, "keeping what rows are") : 0;
}

void watch_succeeded(struct watch *w)
{
	w->began = true;
	w->failures = 0;
}

int watch_failed(struct watch *w, int r)
{
	w->failures++;
	return w->began && w->failures < FAILURES_MAX && !session_replays(&w->session) ? 0 : r;
}

void watch_close(struct watch *w)
{
	session_close(&w->session);
	delta_tracker_done(&w->tracker);
	background_done(&w->background);
}
