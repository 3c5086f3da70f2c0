// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A session that is shown in changing ways. Between two readings rows are made anew of the same
 * snapshot; what they were is kept only when the next one comes, since they point to it.
 */
#include "top/collect.h"

#include <string.h>
#include <sys/random.h>

#include "app/message.h"
#include "app/request.h"
#include "app/rows.h"
#include "base/cleanup.h"

/* So many readings in a row that fail are not going to succeed. */
#define FAILURES_MAX 10

#define INTERVAL_MS  1000

static void past_renew(struct top_feed *c, enum past_kind kind)
{
	uint64_t seed = c->past[kind].seed;

	past_done(&c->past[kind]);
	past_init(&c->past[kind], seed, kind == PAST_FIRST || kind == PAST_GROUPS_FIRST);
}

int collect_open(struct top_feed *c, const struct options *o)
{
	struct session *s = &c->watch.session;
	uint64_t seed = 0;
	int r = watch_open(&c->watch, o);

	/* Of a seed that could not be had groups are told apart all the same. */
	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) < 0)
		seed = 0;
	for (int i = 0; i < PAST_KINDS; i++) {
		c->past[i].seed = seed;
		past_renew(c, i);
	}
	if (r)
		return r;
	s->late_names = true;
	/* A recording is read as it was recorded: names at once. */
	if (session_replays(s))
		s->late_names = false;
	return 0;
}

void collect_close(struct top_feed *c)
{
	watch_done(&c->watch);
	for (int i = 0; i < PAST_KINDS; i++)
		past_done(&c->past[i]);
}

void collect_settings(struct top_feed *c, struct view_settings *ret)
{
	const struct options *o = &c->watch.options;
	const struct session *s = &c->watch.session;

	*ret = (struct view_settings){
		.order = s->order,
		.group = s->group,
		.tree = o->tree,
		.changes = o->changed || o->delta ? CHANGES_LAST : CHANGES_NONE,
		.only_changed = o->changed,
		.interval_ms = o->interval_ms ? (unsigned)o->interval_ms : INTERVAL_MS,
	};
	if (o->delta == DELTA_START)
		ret->changes = CHANGES_START;
	column_list_default(&ret->columns[0], NULL);
	ret->columns[s->group != NULL] = s->columns;
	if (s->group && !o->columns)
		column_list_default(&ret->columns[1], s->group);
	else if (!o->columns)
		column_list_default(&ret->columns[0], NULL);
	ret->chosen[s->group != NULL] = o->columns;
	if (o->filter)
		snprintf(ret->filter, sizeof(ret->filter), "%s", o->filter);
	if (o->users)
		snprintf(ret->user, sizeof(ret->user), "%s", o->users);
	memcpy(c->user, ret->user, sizeof(c->user));
}

/* Which past rows are set against. */
static enum past_kind past_wanted(const struct view *v)
{
	bool first = v->set.changes == CHANGES_START;

	if (v->set.group)
		return first ? PAST_GROUPS_FIRST : PAST_GROUPS;
	return first ? PAST_FIRST : PAST_PROCESSES;
}

void collect_apply(struct top_feed *c, const struct view *v)
{
	struct session *s = &c->watch.session;

	if (s->group != v->set.group) {
		past_renew(c, PAST_GROUPS);
		past_renew(c, PAST_GROUPS_FIRST);
	}
	s->group = v->set.group;
	s->columns = v->fitting;
	s->order = v->set.order;
	s->past = &c->past[past_wanted(v)];
	c->watch.options.tree = v->set.tree;
	c->watch.options.changed = v->set.only_changed;
}

void collect_filter(struct top_feed *c, struct view *v)
{
	struct session *s = &c->watch.session;
	int code = s->exit_code;

	if (request_users(s, v->set.user) == 0)
		memcpy(c->user, v->set.user, sizeof(c->user));
	else
		memcpy(v->set.user, c->user, sizeof(c->user));
	/* One that is being typed need not be whole yet. */
	request_pattern(s, v->set.filter);
	/* What was typed wrong is no failure of ours. */
	s->exit_code = code;
}

static void begin_change(struct top_feed *c)
{
	const struct past *past = c->watch.session.past;

	c->watch.change = (struct change){
		.known = past->taken,
		.from_start = past->from_start,
		.since_ms = past->since_ms,
		.before = past->totals,
		.only_changed = c->watch.options.changed,
		.tick = c->watch.change.tick,
		.missed = c->missed,
		.cost = c->watch.guest.cost,
	};
}

static int keep_one(struct top_feed *c, enum past_kind kind, const struct column *group,
		    struct rows *rows)
{
	struct session *s = &c->watch.session;
	struct past_counts counts;

	past_join(&c->past[kind], group, &s->snapshot, rows, &counts);
	return past_take(&c->past[kind], group, &s->snapshot, rows, &c->result.totals);
}

/* Before the next snapshot: nobody looks at this one any more. */
static int keep(struct top_feed *c)
{
	struct session *s = &c->watch.session;
	int r;

	/* Those that came in sight since, too: the next time they are known from the beginning. */
	if (s->names && s->late_names)
		names_kept_take(s->names, &s->snapshot);
	r = keep_one(c, PAST_PROCESSES, NULL, &s->rows);

	if (r == 0)
		r = keep_one(c, PAST_FIRST, NULL, &s->rows);
	if (r == 0 && s->group)
		r = keep_one(c, PAST_GROUPS, s->group, &s->all);
	if (r == 0 && s->group)
		r = keep_one(c, PAST_GROUPS_FIRST, s->group, &s->all);
	return r < 0 ? message_error("keeping what rows are: %s", strerror(-r)) : 0;
}

static void show(struct top_feed *c, struct view *v, bool tick)
{
	const struct result *r = &c->result;
	const struct own_cost *cost = &c->watch.guest.cost;
	const struct session *s = &c->watch.session;

	v->facts.own_rss = cost->resident_bytes;
	v->facts.missed = c->missed;
	v->facts.can_map = !session_replays(s);
	v->facts.frame = c->watch.frame;
	v->facts.frames = session_replays(s) ? s->replay.recording.frames : 0;
	view_take(v, r, r->rows, r->row_count, tick);
}

/* One that fails says so, and the next one is tried; the first one, or many, are enough. */
static int failed(struct top_feed *c, int r)
{
	c->failures++;
	if (!c->began || c->failures >= FAILURES_MAX || session_replays(&c->watch.session))
		return r;
	return 0;
}

int collect_take(struct top_feed *c, uint64_t missed, uint32_t frame, struct view *v)
{
	struct session *s = &c->watch.session;
	int r = c->have ? keep(c) : 0;

	c->missed = missed;
	c->have = false;
	view_let_go(v);
	begin_change(c);
	c->watch.change.tick++;
	if (r == 0 && session_replays(s)) {
		c->watch.frame = frame;
		r = session_turn_to(s, frame);
	}
	if (r == 0)
		r = session_collect(s, 0, &c->result);
	if (r)
		return failed(c, r);
	c->have = c->began = true;
	c->failures = 0;
	show(c, v, true);
	guest_tick(&c->watch.guest);
	return 0;
}

int collect_reshape(struct top_feed *c, bool filter, struct view *v)
{
	struct session *s = &c->watch.session;
	int r = 0;

	if (!c->have)
		return 0;
	view_let_go(v);
	begin_change(c);
	/* What a recording was asked for in another order it does not answer. */
	if (session_replays(s)) {
		r = session_turn_to(s, c->watch.frame);
		r = r ? r : session_collect(s, 0, &c->result);
	} else {
		if (filter)
			r = rows_choose(s);
		if (r == 0)
			r = rows_shape(s, 0, &c->result);
		if (r < 0)
			r = message_error("making rows: %s", strerror(-r));
	}
	c->have = r == 0;
	if (r == 0)
		show(c, v, false);
	return r;
}

void collect_name(struct top_feed *c, struct view *v)
{
	size_t first, count;

	if (!c->have || v->mode != VIEW_LIST)
		return;
	view_place(v, &first, &count);
	if (c->watch.session.late_names)
		rows_name(&c->watch.session, (struct process **)v->rows + first, count);
}

static void read_maps(struct top_feed *c, struct view *v, struct process *p)
{
	struct session *s = &c->watch.session;
	struct pool_result result = {};
	int r;

	pool_patient(session_pool(s));
	r = pool_read(session_pool(s), POOL_NAMES, true, &p, 1, &result);
	if (r < 0)
		message_error("reading mappings: %s", strerror(-r));
	if (view_take_maps(v, TAKE_PTR(result.maps), r < 0 ? PSS_UNSUPPORTED : result.status) < 0)
		message_error("reading mappings: out of memory");
}

void collect_detail(struct top_feed *c, struct view *v, bool maps)
{
	struct session *s = &c->watch.session;
	struct process *p = view_row(v), copy;
	struct rows one = {&p, 1};

	if (!c->have || !p || v->mode != VIEW_DETAIL || v->detail.ended)
		return;
	/* Groups were named with their processes. */
	if (p->pid && !session_replays(s)) {
		enrich_users(s->users, &one);
		enrich_cgroups(session_pool(s), &s->snapshot, &one);
	}
	copy = *p;
	one.item = (struct process *[]){&copy};
	if (p->pid || v->set.group->needs & NEEDS_CGROUP)
		enrich_controllers(&s->proc, &s->snapshot, &one);
	view_take_charged(v, &copy);
	if (maps && p->pid && !session_replays(s))
		read_maps(c, v, p);
}
