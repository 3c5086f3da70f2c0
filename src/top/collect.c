// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Collects for a view with settings that change. Between two snapshots, rows are made again from
 * the last one. Rows are stored as the base of the deltas only before the next snapshot, since they
 * point to the previous rows until then.
 */
#include "top/collect.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "findings/findings.h"
#include "privilege/privilege.h"
#include "session/log.h"
#include "session/query_args.h"

static bool replays(const struct collect *c)
{
	return c->session.options->replay;
}

/* ---- the time line of a recording ---- */

/* The gaps before frames. Without memory the line shows fewer of them. */
static void find_gaps(struct timeline *t, const struct recording_reader *r, size_t frames)
{
	for (size_t i = 1; i < frames; i++) {
		struct time_gap *grown;

		if (!recording_reader_gap(r, i))
			continue;
		grown = realloc(t->gap, (t->gaps + 1) * sizeof(*grown));
		if (!grown)
			return;
		t->gap = grown;
		t->gap[t->gaps++] = (struct time_gap){recording_reader_time(r, i - 1),
						      recording_reader_time(r, i)};
	}
}

static int make_timeline(struct collect *c)
{
	const struct replay *replay = &c->session.replay;
	struct timeline *t = &c->timeline;
	size_t events, frame;

	if (!replays(c) || replay->frames < 2)
		return 0;
	events = recording_reader_info(replay->reader)->events;
	t->event = calloc(events + 1, sizeof(*t->event));
	if (!t->event)
		return log_error("reading the events: out of memory");
	t->events = events;
	recording_reader_range(replay->reader, &t->first_ms, &t->last_ms);
	for (size_t i = 0; i < events; i++) {
		t->event[i].time_ms = recording_reader_event_time(replay->reader, i);
		t->event[i].number = recording_reader_event_number(replay->reader, i);
		if (replay_event_frame(replay, i, &frame))
			t->event[i].frame = (uint32_t)frame + 1;
	}
	find_gaps(t, replay->reader, replay->frames);
	return 0;
}

static void find_event(const struct collect *c, bool next, uint32_t *frame)
{
	const struct timeline *t = &c->timeline;
	uint32_t now = *frame;

	for (size_t i = 0; i < t->events; i++) {
		uint32_t of = t->event[i].frame;

		/* The nearest on that side. */
		if (of && (next ? of > now && (*frame == now || of < *frame)
				: of < now && (*frame == now || of > *frame)))
			*frame = of;
	}
}

/* A step leads to another frame, also if the next one is later, behind a gap. */
static uint32_t find_minutes(const struct collect *c, int minutes)
{
	const struct replay *replay = &c->session.replay;
	uint32_t now = c->session.frame;
	int64_t to = recording_reader_time(replay->reader, now - 1) + minutes * INT64_C(60000);
	size_t found = 0;

	/* Before the beginning: the earliest one, which is not the first if the clock was set. */
	if (!recording_reader_find(replay->reader, to, &found))
		recording_reader_later(replay->reader, to, &found);
	if (minutes > 0 && found + 1 <= now)
		return now < replay->frames ? now + 1 : now;
	if (minutes < 0 && found + 1 >= now)
		return now > 1 ? now - 1 : now;
	return (uint32_t)found + 1;
}

uint32_t collect_find_frame(const struct collect *c, struct view *v)
{
	uint32_t frame = c->session.frame;
	size_t found;
	int64_t at_ms;

	switch (v->shared.go.where) {
	case GO_MINUTES:
		return find_minutes(c, v->shared.go.minutes);
	case GO_NEXT_EVENT:
	case GO_PREVIOUS_EVENT:
		find_event(c, v->shared.go.where == GO_NEXT_EVENT, &frame);
		if (frame == c->session.frame)
			show_message(&v->shared, "there is no %s event",
				     v->shared.go.where == GO_NEXT_EVENT ? "later" : "earlier");
		return frame;
	case GO_TIME:
		if (session_find_frame(&c->session, v->shared.go.time, &found, &at_ms) == 0)
			return (uint32_t)found + 1;
		return frame;
	}
	return frame;
}

/* A recording is shown from its end on, unless it is played or its start matters. */
static bool begins_at_end(const struct options *o)
{
	return o->replay && !o->at && !o->count && o->delta != DELTA_START;
}

int collect_open(struct collect *c, const struct options *o)
{
	int r;

	if (!o->replay)
		top_files_open(&c->files);
	r = session_open_series(&c->session, o, true);
	if (r == 0 && begins_at_end(o)) {
		uint32_t last = session_readable(&c->session, c->session.last_frame, -1);

		c->session.frame = last ? last - 1 : c->session.frame;
	}
	return r ? r : make_timeline(c);
}

void collect_close(struct collect *c)
{
	top_files_close(&c->files);
	free(c->timeline.gap);
	free(c->timeline.event);
	session_close(&c->session);
}

void collect_settings(struct collect *c, struct view_settings *ret)
{
	const struct session *s = &c->session;
	const struct options *o = s->options;
	const struct query *q = &s->query;

	*ret = (struct view_settings){
		.order = q->order,
		.group = q->group,
		.tree = o->tree,
		.changes = o->changed || o->delta ? CHANGES_LAST : CHANGES_NONE,
		.only_changed = o->changed,
		.interval_ms = o->interval_ms ? (unsigned)o->interval_ms : INTERVAL_USUAL,
		.paused = o->replay && !o->count,
	};
	if (o->delta == DELTA_START)
		ret->changes = CHANGES_START;
	process_list_columns(&ret->columns[FOR_PROCESSES], &columns_live, NULL);
	if (o->columns)
		ret->columns[q->group != NULL] = s->columns;
	else if (q->group)
		process_list_columns(&ret->columns[FOR_GROUPS], &columns_live, q->group);
	ret->chosen[q->group != NULL] = o->columns;
	if (o->filter)
		snprintf(ret->filter, sizeof(ret->filter), "%s", o->filter);
	if (o->users)
		snprintf(ret->user, sizeof(ret->user), "%s", o->users);
	memcpy(c->user, ret->user, sizeof(c->user));
	memcpy(c->filter, ret->filter, sizeof(c->filter));
}

void collect_apply_settings(struct collect *c, const struct view *v)
{
	struct session *s = &c->session;
	struct query *q = &s->query;

	q->group = v->shared.set.group;
	q->order = v->shared.set.order;
	q->tree = v->shared.set.tree;
	q->folds = &v->list.folds;
	q->only_changed = v->shared.set.only_changed;
	q->needs = field_list_needs(&v->list.fitting);
	c->session.from_start = v->shared.set.changes == CHANGES_START;
}

void collect_filter(struct collect *c, struct view *v)
{
	struct session *s = &c->session;
	/* An invalid text at the prompt does not fail the command. */
	int ignored;

	if (query_args_set(&s->query, s->options, QUERY_USER, v->shared.set.user, &s->collector,
			   &ignored) == 0)
		memcpy(c->user, v->shared.set.user, sizeof(c->user));
	else
		memcpy(v->shared.set.user, c->user, sizeof(c->user));
	/* A filter that is being typed may be incomplete. */
	if (query_args_set(&s->query, s->options, QUERY_FILTER, v->shared.set.filter, &s->collector,
			   &ignored) == 0)
		memcpy(c->filter, v->shared.set.filter, sizeof(c->filter));
	else
		memcpy(v->shared.set.filter, c->filter, sizeof(c->filter));
	s->query.filter.group = v->list.opened.group;
}

/* Call before the next snapshot, when nothing points to this one any more. */
static int store_rows(struct collect *c)
{
	struct session *s = &c->session;
	struct collector *collector = &s->collector;
	int r;

	/* Also the names of rows that became visible: the next snapshot has them at once. */
	if (collector->names && collector->spec.lazy_names)
		name_cache_update(collector->names, &collector->snapshot);
	r = delta_set_update(&c->session.deltas, &s->query, &collector->snapshot, &collector->rows,
			     &c->result.totals);
	return r < 0 ? log_errno(r, "storing rows") : 0;
}

/* Swap activity since the snapshot before. The counters begin again with each boot. */
static void note_swapped(struct collect *c, struct view_facts *facts)
{
	const struct snapshot *s = &c->session.collector.snapshot;
	const struct swap_activity *now = &s->system.swapped, *before = &c->swapped;
	int64_t ms = s->time_ms - c->swapped_ms;

	facts->swap_known = now->known && before->known && ms > 0 && now->in >= before->in &&
			    now->out >= before->out;
	if (facts->swap_known) {
		facts->swap_in = (uint64_t)((double)(now->in - before->in) * 1000 / (double)ms);
		facts->swap_out = (uint64_t)((double)(now->out - before->out) * 1000 / (double)ms);
	}
	c->swapped = *now;
	c->swapped_ms = s->time_ms;
}

/* The frame, or the next readable one in this direction; 0: there is none, which is told. */
static uint32_t find_readable(struct collect *c, uint32_t frame, int direction)
{
	struct session *s = &c->session;
	uint32_t found = session_readable(s, frame, direction);

	if (!found)
		replay_note_lost(&s->replay, s->options->quiet, s->collector.reason);
	return found;
}

static int read_frame(struct collect *c, uint32_t frame)
{
	int r = session_turn_to(&c->session, frame);

	c->session.frame = frame;
	return r ? r : session_collect(&c->session, &c->result);
}

/* After a step back in a recording, deltas are relative to the frame before. */
static int store_frame_before(struct collect *c, uint32_t frame, struct view_facts *facts)
{
	int r = 0;

	delta_set_forget_last(&c->session.deltas);
	session_begin_delta(&c->session, c->missed);
	c->swapped.known = false;
	frame = frame > 1 ? find_readable(c, frame - 1, -1) : 0;
	if (!frame)
		return 0;
	r = read_frame(c, frame);
	if (r)
		return r;
	note_swapped(c, facts);
	return store_rows(c);
}

static void show_rows(struct collect *c, struct view *v, bool tick)
{
	const struct result *r = &c->result;
	const struct own_cost *cost = &c->session.background.cost;

	v->shared.facts.own_rss = cost->resident_bytes;
	v->shared.facts.collect_us = r->snapshot->collection.duration_us;
	v->shared.facts.missed = c->missed;
	v->shared.facts.can_map = !replays(c);
	v->shared.facts.frame = c->session.frame;
	v->shared.facts.frames = replays(c) ? c->session.replay.frames : 0;
	v->shared.facts.timeline = v->shared.facts.frames > 1 ? &c->timeline : NULL;
	findings_find(r->snapshot, r, &v->shared.facts.findings);
	view_set_rows(v, r, r->rows, r->row_count, tick);
}

int collect_tick(struct collect *c, uint64_t missed, uint32_t frame, struct view *v)
{
	struct session *s = &c->session;
	bool back = replays(c) && frame < c->session.frame;
	uint32_t found = replays(c) ? find_readable(c, frame, back ? -1 : 1) : 0;
	int r = 0;

	/* Where nothing more can be read, it stays. */
	frame = found ? found : c->session.frame;
	back = replays(c) && frame < c->session.frame;
	if (c->have_result && !back)
		r = store_rows(c);
	c->missed = missed;
	c->have_result = false;
	view_clear_rows(v);
	if (back)
		r = store_frame_before(c, frame, &v->shared.facts);
	session_begin_delta(&c->session, missed);
	c->session.deltas.delta.tick++;
	if (r == 0)
		r = replays(c) ? read_frame(c, frame) : session_collect(s, &c->result);
	if (r == 0)
		r = session_look_closer(s);
	if (r)
		return session_failed(&c->session, r);
	c->have_result = true;
	note_swapped(c, &v->shared.facts);
	session_succeeded(&c->session);
	show_rows(c, v, true);
	background_tick(&c->session.background);
	return 0;
}

/* At a gap, and where many snapshots were taken at once. */
#define PLAY_MOST_US  2000000
#define PLAY_LEAST_US 50000

uint64_t collect_interval_us(const struct collect *c, const struct view *v)
{
	const struct recording_reader *reader = c->session.replay.reader;
	uint32_t next = v->shared.facts.frame;
	uint64_t us;

	if (!v->shared.set.speed || !next || next >= v->shared.facts.frames)
		return (uint64_t)v->shared.set.interval_ms * 1000;
	us = (uint64_t)(recording_reader_time(reader, next) -
			recording_reader_time(reader, next - 1)) *
	     1000 / v->shared.set.speed;
	return us > PLAY_MOST_US ? PLAY_MOST_US : us < PLAY_LEAST_US ? PLAY_LEAST_US : us;
}

/* Called after the message that the pattern is too expensive. */
static int drop_pattern(struct collect *c, struct view *v)
{
	*v->shared.set.filter = *c->filter = '\0';
	query_args_set(&c->session.query, c->session.options, QUERY_FILTER, "", NULL, NULL);
	return collect_requery(c, true, v);
}

int collect_requery(struct collect *c, bool filter, struct view *v)
{
	struct session *s = &c->session;
	int r = 0;

	if (!c->have_result)
		return 0;
	view_clear_rows(v);
	session_begin_delta(&c->session, c->missed);
	r = session_requery(s, filter, &c->result);
	if (r == EXIT_USAGE && s->query.filter.pattern)
		return drop_pattern(c, v);
	c->have_result = r == 0;
	/* The next tick collects again. */
	if (r)
		return session_failed(&c->session, r);
	show_rows(c, v, false);
	return 0;
}

void collect_name_rows(struct collect *c, struct view *v)
{
	struct session *s = &c->session;
	struct rows in_sight;

	if (!c->have_result || !view_in_front(v, PANE_LIST))
		return;
	in_sight = view_rows_in_sight(v);
	if (s->collector.spec.lazy_names)
		collector_name_rows(&s->collector, &s->query, in_sight.item, in_sight.count);
}

static struct process *row_of_detail(const struct collect *c, const struct view *v)
{
	return c->have_result && view_in_front(v, PANE_DETAIL) && !v->detail.ended
		       ? listing_process(&v->shared.rows)
		       : NULL;
}

bool collect_has_maps(const struct collect *c, const struct view *v)
{
	const struct process *p = row_of_detail(c, v);

	return p && p->pid && !replays(c);
}

void collect_maps(struct collect *c, struct view *v)
{
	struct collector *s = &c->session.collector;
	struct process *p = listing_process(&v->shared.rows);
	struct pool_result result = {};
	int r;

	if (!collect_has_maps(c, v))
		return;
	pool_patient(collector_pool(s));
	r = pool_read(collector_pool(s), POOL_NAMES, true, &p, 1, &result);
	if (r < 0)
		log_errno(r, "reading mappings");
	if (detail_set_maps(&v->detail, TAKE_PTR(result.maps),
			    r < 0 ? PSS_UNSUPPORTED : result.status) < 0)
		log_error("reading mappings: out of memory");
}

void collect_detail(struct collect *c, struct view *v)
{
	struct collector *s = &c->session.collector;
	struct process *p = row_of_detail(c, v), copy;
	struct process_list one = {&p, 1};

	if (!p)
		return;
	/* Groups got their names with their processes, other rows only if they are in sight. */
	if (s->spec.lazy_names)
		collector_name_rows(s, &c->session.query, listing_row(&v->shared.rows), 1);
	detail_update(&v->detail);
	if (p->pid && !replays(c)) {
		enrich_users(s->users, &one);
		enrich_cgroups(collector_pool(s), &s->snapshot, &one);
	}
	copy = *p;
	copy.charged = &v->detail.charges;
	v->detail.charges = p->charged ? *p->charged : (struct charges){};
	one.item = (struct process *[]){&copy};
	if (p->pid || group_is_memcg(v->shared.set.group))
		collector_charge(s, &one, NEEDS_MEMCG_DETAIL);
	v->detail.charged = copy;
}

void collect_ram(struct collect *c, struct view *v)
{
	struct session *s = &c->session;
	struct collector *collector = &s->collector;
	int r = 0;

	/* From the next snapshot on it comes with each. */
	collector->spec.ram = view_has(v, PANE_RAM) ? RAM_SUMS : RAM_UNASKED;
	if (!collector->spec.ram || !c->have_result)
		return;
	/* Makes what was kept for loading effective, if anything was. */
	if (!replays(c) && !collector->ram)
		privilege_as_caller(false);
	if (replays(c))
		r = replay_find_census(&s->replay, s->frame - 1, false, &collector->snapshot);
	else if (!collector->snapshot.system.ram)
		r = collector_read_ram(collector);
	if (r < 0)
		log_errno(r, "reading where the RAM is");
	ram_set(&v->ram, collector->snapshot.system.ram);
}
