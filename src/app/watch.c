// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A session that is collected from again and again, and the past of its rows. */
#include "app/watch.h"

#include <string.h>
#include <sys/random.h>

#include "app/message.h"

/* So many ticks in a row that fail are not going to succeed. */
#define FAILURES_MAX 10

int watch_open(struct watch *w, const struct options *o)
{
	uint64_t seed = 0;
	int r;

	*w = (struct watch){.options = *o, .session.proc.fd = -1, .guest.own.statm = -1};
	if (o->grow && !o->sort)
		w->options.sort = "pss_swap_change";
	/* Of a seed that could not be had groups are told apart all the same. */
	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) < 0)
		seed = 0;
	past_init(&w->past, seed, o->grow || o->delta == DELTA_START);
	r = session_open(&w->session, &w->options, NULL);
	if (r)
		return r;
	w->session.past = &w->past;
	w->session.change = &w->change;
	guest_begin(&w->guest, o);
	return 0;
}

bool watch_ended(const struct watch *w)
{
	return session_replays(&w->session) && w->frame >= w->session.replay.recording.frames;
}

void watch_begin_change(struct watch *w, uint64_t missed)
{
	const struct past *past = w->session.past;

	w->change = (struct change){
		.known = past->taken,
		.from_start = past->from_start,
		.since_ms = past->since_ms,
		.before = past->totals,
		.only_changed = w->options.changed,
		.tick = w->change.tick,
		.missed = missed,
		.cost = w->guest.cost,
	};
	/* Who is above it now and who was before are not the same. */
	if (w->options.min)
		w->change.before = (struct totals){.processes = 1};
}

int watch_take(struct watch *w, uint64_t missed, size_t fit, struct result *ret)
{
	int r = 0;

	watch_begin_change(w, missed);
	w->change.tick++;
	if (session_replays(&w->session))
		r = session_turn_to(&w->session, ++w->frame);
	return r ? r : session_collect(&w->session, fit, ret);
}

int watch_keep(struct watch *w, const struct result *r)
{
	int err = past_take(&w->past, w->session.group, r->snapshot, &w->session.all, &r->totals);

	guest_tick(&w->guest);
	return err < 0 ? message_errno(err, "keeping what rows are") : 0;
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
	past_done(&w->past);
	guest_done(&w->guest);
}
