// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Episodes of short memory: when they begin and end, and denser frames meanwhile. */
#include <stdlib.h>

#include "base/clock.h"
#include "recorder/keeper.h"

#define DENSE_QUIET_US UINT64_C(30000000)   /* after the last sign of a shortage */
#define DENSE_MOST_US  UINT64_C(3600000000) /* memory may be short for days */

/*
 * Tasks that wait while so much of RAM is available wait for the limit of a cgroup. What is over at
 * once is no event: a kill ends most of it.
 */
#define PLENTY_PERCENT 20
#define PLENTY_LOOKS   5 /* about a second each */

unsigned keeper_tick_ms(struct keeper *k)
{
	const struct options *o = &k->recorder.options;

	k->dense = o->dense == DENSE_DEFAULT ? DENSE_USUAL : (unsigned)o->dense;
	return k->dense && o->interval_ms > DENSE_MS ? DENSE_MS : (unsigned)o->interval_ms;
}

void keeper_watch_pressure(struct keeper *k)
{
	const struct options *o = &k->recorder.options;
	unsigned stall = o->stall == STALL_DEFAULT ? STALL_USUAL : (unsigned)o->stall;
	const struct pressure_limits limits = {.left = k->dense, .stall = k->dense ? stall : 0};

	pressure_watch_open(&k->pressure, PRESSURE_FILE, &limits);
}

static void set_known(struct event_record *e, enum event_member m, bool known, uint64_t value)
{
	if (known)
		event_set(e, m, value);
}

/*
 * The cgroup that has reached its limits most since; of the same counts the lowest. One that had no
 * processes then counts from its beginning. NULL: none.
 */
static const char *find_limited(const struct snapshot *s, const struct cgroup_counts *before)
{
	const char *found = NULL;
	uint64_t most = 1;

	for (size_t i = 0, at = 0; i < s->memcg_count; i++) {
		const struct memcg *m = &s->memcg[i];
		uint64_t was = cgroup_counts_before(before, &at, m->path), now;

		if (!cgroup_limit_hits(m, &now) || now < was || now - was < most)
			continue;
		most = now - was;
		found = m->path;
	}
	return found;
}

/* Writes the beginning of an episode, or its end. */
static void record_episode(struct keeper *k, bool ended)
{
	struct episode *p = &k->episode;
	struct event_record *e = calloc(1, sizeof(*e));
	int r;

	if (!e)
		return;
	event_set(e, EVENT_KIND, EVENT_PRESSURE);
	event_set(e, EVENT_CAUSES, p->causes);
	event_set(e, EVENT_PLENTY, p->plenty);
	if (p->plenty)
		event_set_text(e, EVENT_LIMIT_CGROUP,
			       find_limited(&k->recorder.session.collector.snapshot, &p->limits));
	set_known(e, EVENT_AVAILABLE, p->last.available_known, p->available_least);
	set_known(e, EVENT_SWAP_FREE, p->last.swap_free_known, p->swap_free_least);
	e->time_ms = p->began_ms;
	if (ended) {
		e->time_ms = (int64_t)(clock_us(CLOCK_REALTIME) / 1000);
		event_set(e, EVENT_ENDED, (uint64_t)p->short_ms);
		event_set(e, EVENT_BEGAN, (uint64_t)p->began_ms);
		event_set(e, EVENT_KILLS, p->kills);
		set_known(e, EVENT_STALLED_US, p->first.stalled_known && p->last.stalled_known,
			  p->last.stalled_us - p->first.stalled_us);
		set_known(e, EVENT_REFAULTED, p->first.refaulted_known && p->last.refaulted_known,
			  p->last.refaulted - p->first.refaulted);
	}
	r = recording_ring_event(&k->ring, keeper_boot_ms(), e);
	keeper_report_written(k, r);
	free(e);
}

static bool has_plenty(const struct pressure_look *look)
{
	return look->causes == PRESSURE_STALL && look->available_known &&
	       look->available / PLENTY_PERCENT >= look->total / 100;
}

static void begin_episode(struct keeper *k, const struct pressure_look *look, uint64_t now)
{
	struct cgroup_counts limits = k->episode.limits;

	cgroup_counts_take(&limits, &k->recorder.session.collector.snapshot, cgroup_limit_hits);
	k->episode = (struct episode){
		.on = true,
		.plenty = true,
		.limits = limits,
		.began_us = now,
		.began_ms = (int64_t)(clock_us(CLOCK_REALTIME) / 1000),
		.first = *look,
		.last = *look,
		.available_least = look->available,
		.swap_free_least = look->swap_free,
	};
}

/* Follows an episode: memory is short, or was until a while ago. */
static void look_at_episode(struct keeper *k, const struct pressure_look *look, uint64_t now)
{
	struct episode *p = &k->episode;
	bool begins = look->causes && !p->on;

	if (begins)
		begin_episode(k, look, now);
	if (!p->on)
		return;
	p->last = *look;
	p->causes |= look->causes;
	if (look->available < p->available_least)
		p->available_least = look->available;
	if (look->swap_free < p->swap_free_least)
		p->swap_free_least = look->swap_free;
	if (look->causes) {
		p->short_us = now;
		p->short_ms = (int64_t)(clock_us(CLOCK_REALTIME) / 1000);
	}
	p->looks += look->causes != 0;
	p->plenty &= !look->causes || has_plenty(look);
	if (begins)
		k->recorder.census_in = 0;
	if (!p->written && (!p->plenty || p->looks >= PLENTY_LOOKS)) {
		record_episode(k, false);
		p->written = true;
	}
	if (now - p->short_us >= DENSE_QUIET_US) {
		if (p->written)
			record_episode(k, true);
		p->on = false;
	}
}

bool keeper_is_due(struct keeper *k, bool stalled)
{
	uint64_t now = clock_us(CLOCK_MONOTONIC);
	bool due = !stalled && now + DENSE_MS * 500 >= k->due_us, was_on = k->episode.on;
	struct pressure_look look;

	if (k->dense) {
		pressure_watch_look(&k->pressure, &k->recorder.session.collector.proc, now, stalled,
				    was_on, &look);
		look_at_episode(k, &look, now);
	}
	/* The first snapshot of an episode does not wait for the next second. */
	if (k->episode.on && now - k->episode.began_us < DENSE_MOST_US && (!stalled || !was_on))
		due = true;
	if (due)
		k->due_us = now + (uint64_t)k->recorder.options.interval_ms * 1000;
	return due;
}
