// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A collector that is read from again and again, and the earlier rows that rows are compared with.
 */
#include "cli/watch.h"

#include <sys/random.h>

#include "cli/log.h"

/* After so many failed ticks in a row the next ones fail, too. */
#define FAILURES_MAX 10

int watch_open(struct watch *w, const struct options *o, bool interactive)
{
	struct collect_spec spec = measure_spec(o);
	uint64_t seed = 0;
	int r;

	*w = WATCH_CLOSED;
	/* Without a seed groups are told apart all the same. */
	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) < 0)
		seed = 0;
	delta_set_init(&w->deltas, seed, interactive);
	w->from_start = o->grow || o->delta == DELTA_START;
	/* A recording has its names at once. */
	spec.lazy_names = interactive && !o->replay;
	r = measure_open(&w->measure, o, &spec);
	if (r)
		return r;
	w->measure.query.deltas = &w->deltas;
	background_begin(&w->background, o);
	return 0;
}

bool watch_ended(const struct watch *w)
{
	return w->measure.options->replay && w->frame >= w->measure.replay.recording.frames;
}

void watch_begin_delta(struct watch *w, uint64_t missed)
{
	delta_set_begin(&w->deltas, &w->measure.query, w->from_start);
	w->deltas.delta.missed = missed;
	w->deltas.delta.cost = w->background.cost;
}

int watch_collect(struct watch *w, uint64_t missed, size_t fit, struct result *ret)
{
	int r = 0;

	watch_begin_delta(w, missed);
	w->deltas.delta.tick++;
	w->measure.query.fit = fit;
	if (w->measure.options->replay)
		r = measure_turn_to(&w->measure, ++w->frame);
	return r ? r : measure_collect(&w->measure, ret);
}

int watch_keep(struct watch *w, const struct result *result)
{
	struct collector *c = &w->measure.collector;
	int r = delta_set_update(&w->deltas, &w->measure.query, &c->snapshot, &c->rows, result);

	background_tick(&w->background);
	return r < 0 ? log_errno(r, "keeping what rows are") : 0;
}

void watch_succeeded(struct watch *w)
{
	w->began = true;
	w->failures = 0;
}

int watch_failed(struct watch *w, int r)
{
	w->failures++;
	return w->began && w->failures < FAILURES_MAX && !w->measure.options->replay ? 0 : r;
}

void watch_close(struct watch *w)
{
	measure_close(&w->measure);
	delta_set_done(&w->deltas);
	background_done(&w->background);
}
