// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A session that is shown in changing ways. Between two readings rows are made anew of the same
 * snapshot; what they were is kept only when the next one comes, since they point to it.
 */
#include "top/collect.h"

#include <string.h>

#include "cli/log.h"
#include "cli/query_args.h"
#include "cli/row_pipeline.h"
#include "base/cleanup.h"

static void tracker_renew(struct collect *c, enum tracker_kind kind)
{
	uint64_t seed = c->tracker[kind].seed;

	delta_tracker_done(&c->tracker[kind]);
	delta_tracker_init(&c->tracker[kind], seed,
			   kind == TRACKER_FIRST || kind == TRACKER_GROUPS_FIRST);
}

int collect_open(struct collect *c, const struct options *o)
{
	struct session *s = &c->watch.session;
	int r = watch_open(&c->watch, o);

	for (int i = 0; i < TRACKER_KINDS; i++) {
		c->tracker[i].seed = c->watch.tracker.seed;
		tracker_renew(c, i);
	}
	if (r)
		return r;
	/* A recording has its names. */
	s->lazy_names = !session_replays(s);
	return 0;
}

void collect_close(struct collect *c)
{
	watch_close(&c->watch);
	for (int i = 0; i < TRACKER_KINDS; i++)
		delta_tracker_done(&c->tracker[i]);
}

void collect_settings(struct collect *c, struct view_settings *ret)
{
	const struct options *o = &c->watch.options;
	const struct session *s = &c->watch.session;

	*ret = (struct view_settings){
		.order = s->order,
		.group = s->group,
		.tree = o->tree,
		.changes = o->changed || o->delta ? CHANGES_LAST : CHANGES_NONE,
		.only_changed = o->changed,
		.interval_ms = o->interval_ms ? (unsigned)o->interval_ms : INTERVAL_USUAL,
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
	memcpy(c->now.user, ret->user, sizeof(c->now.user));
	memcpy(c->now.filter, ret->filter, sizeof(c->now.filter));
}

/* Which past rows are set against. */
static enum tracker_kind tracker_wanted(const struct view *v)
{
	bool first = v->set.changes == CHANGES_START;

	if (v->set.group)
		return first ? TRACKER_GROUPS_FIRST : TRACKER_GROUPS;
	return first ? TRACKER_FIRST : TRACKER_PROCESSES;
}

void collect_apply(struct collect *c, const struct view *v)
{
	struct session *s = &c->watch.session;

	if (s->group != v->set.group) {
		tracker_renew(c, TRACKER_GROUPS);
		tracker_renew(c, TRACKER_GROUPS_FIRST);
	}
	s->group = v->set.group;
	s->columns = v->fitting;
	s->order = v->set.order;
	s->tracker = &c->tracker[tracker_wanted(v)];
	c->watch.options.tree = v->set.tree;
	c->watch.options.changed = v->set.only_changed;
}

void collect_filter(struct collect *c, struct view *v)
{
	struct session *s = &c->watch.session;
	int code = s->exit_code;

	if (request_users(s, v->set.user) == 0)
		memcpy(c->now.user, v->set.user, sizeof(c->now.user));
	else
		memcpy(v->set.user, c->now.user, sizeof(c->now.user));
	/* One that is being typed need not be whole yet. */
	if (request_pattern(s, v->set.filter) == 0)
		memcpy(c->now.filter, v->set.filter, sizeof(c->now.filter));
	/* What was typed wrong is no failure of ours. */
	s->exit_code = code;
}

static int keep_one(struct collect *c, enum tracker_kind kind, const struct column *group,
		    struct rows *rows)
{
	struct session *s = &c->watch.session;
	struct tracker *tracker = &c->tracker[kind];
	bool first = tracker->from_start && tracker->taken;
	struct delta_counts counts;
	int r;

	delta_tracker_join(tracker, group, &s->snapshot, rows, &counts);
	r = delta_tracker_update(tracker, group, &s->snapshot, rows, &c->result.totals);
	if (r == 0 && !first)
		c->of[kind] = c->now;
	return r;
}

/* Before the next snapshot: nobody looks at this one any more. */
static int update_trackers(struct collect *c)
{
	struct session *s = &c->watch.session;
	int r;

	/* Those that came in sight since, too: the next time they are known from the beginning. */
	if (s->names && s->lazy_names)
		name_cache_update(s->names, &s->snapshot);
	r = keep_one(c, TRACKER_PROCESSES, NULL, &s->rows);

	if (r == 0)
		r = keep_one(c, TRACKER_FIRST, NULL, &s->rows);
	if (r == 0 && s->group)
		r = keep_one(c, TRACKER_GROUPS, s->group, &s->all);
	if (r == 0 && s->group)
		r = keep_one(c, TRACKER_GROUPS_FIRST, s->group, &s->all);
	return r < 0 ? log_errno(r, "keeping what rows are") : 0;
}

static void begin_delta(struct collect *c)
{
	const struct chosen *of = &c->of[c->watch.session.tracker - c->tracker], *now = &c->now;

	watch_begin_delta(&c->watch, c->missed);
	/* The sums of then were of other processes. */
	if (strcmp(of->filter, now->filter) != 0 || strcmp(of->user, now->user) != 0)
		c->watch.delta.before = (struct totals){.processes = 1};
}

static int read_frame(struct collect *c, uint32_t frame)
{
	struct session *s = &c->watch.session;
	int r = session_replay_frame(s, frame);

	c->watch.frame = frame;
	return r ? r : session_collect(s, 0, &c->result);
}

/* Back in a recording: what rows were is in the frame before, not in the one that was shown. */
static int keep_before(struct collect *c, uint32_t frame)
{
	int r = 0;

	tracker_renew(c, TRACKER_PROCESSES);
	tracker_renew(c, TRACKER_GROUPS);
	if (frame > 1)
		r = read_frame(c, frame - 1);
	return r || frame <= 1 ? r : update_trackers(c);
}

static void show(struct collect *c, struct view *v, bool tick)
{
	const struct result *r = &c->result;
	const struct own_cost *cost = &c->watch.background.cost;
	const struct session *s = &c->watch.session;

	v->facts.own_rss = cost->resident_bytes;
	v->facts.missed = c->missed;
	v->facts.can_map = !session_replays(s);
	v->facts.frame = c->watch.frame;
	v->facts.frames = session_replays(s) ? s->replay.frames : 0;
	view_take(v, r, r->rows, r->row_count, tick);
}

int collect_take(struct collect *c, uint64_t missed, uint32_t frame, struct view *v)
{
	struct session *s = &c->watch.session;
	bool back = session_replays(s) && frame < c->watch.frame;
	int r = c->have && !back ? update_trackers(c) : 0;

	c->missed = missed;
	c->have = false;
	view_let_go(v);
	if (back)
		r = keep_before(c, frame);
	begin_delta(c);
	c->watch.delta.tick++;
	if (r == 0)
		r = session_replays(s) ? read_frame(c, frame) : session_collect(s, 0, &c->result);
	if (r)
		return watch_failed(&c->watch, r);
	c->have = true;
	watch_succeeded(&c->watch);
	show(c, v, true);
	background_tick(&c->watch.background);
	return 0;
}

/* The message has said that it is too expensive. */
static int without_pattern(struct collect *c, struct view *v)
{
	*v->set.filter = *c->now.filter = '\0';
	request_pattern(&c->watch.session, "");
	return collect_reshape(c, true, v);
}

int collect_reshape(struct collect *c, bool filter, struct view *v)
{
	struct session *s = &c->watch.session;
	int r = 0;

	if (!c->have)
		return 0;
	view_let_go(v);
	begin_delta(c);
	if (filter)
		r = rows_choose(s);
	if (r == 0)
		r = rows_shape(s, 0, &c->result);
	if (r < 0)
		r = request_failed(r, "making rows");
	if (r == EXIT_USAGE && s->pattern)
		return without_pattern(c, v);
	c->have = r == 0;
	/* As a tick that fails: the next one has rows again. */
	if (r)
		return watch_failed(&c->watch, r);
	show(c, v, false);
	return 0;
}

void collect_name(struct collect *c, struct view *v)
{
	size_t first, count;

	if (!c->have || v->mode != VIEW_LIST)
		return;
	view_place(v, &first, &count);
	if (c->watch.session.lazy_names)
		rows_name(&c->watch.session, (struct process **)v->rows + first, count);
}

static struct process *row_of_detail(const struct collect *c, const struct view *v)
{
	return c->have && v->mode == VIEW_DETAIL && !v->detail.ended ? view_row(v) : NULL;
}

bool collect_has_maps(const struct collect *c, const struct view *v)
{
	const struct process *p = row_of_detail(c, v);

	return p && p->pid && !session_replays(&c->watch.session);
}

void collect_maps(struct collect *c, struct view *v)
{
	struct session *s = &c->watch.session;
	struct process *p = view_row(v);
	struct pool_result result = {};
	int r;

	if (!collect_has_maps(c, v))
		return;
	pool_patient(session_pool(s));
	r = pool_read(session_pool(s), POOL_NAMES, true, &p, 1, &result);
	if (r < 0)
		log_errno(r, "reading mappings");
	if (view_take_maps(v, TAKE_PTR(result.maps), r < 0 ? PSS_UNSUPPORTED : result.status) < 0)
		log_error("reading mappings: out of memory");
}

void collect_detail(struct collect *c, struct view *v)
{
	struct session *s = &c->watch.session;
	struct process *p = row_of_detail(c, v), copy;
	struct rows one = {&p, 1};

	if (!p)
		return;
	/* Groups were named with their processes. */
	if (p->pid && !session_replays(s)) {
		enrich_users(s->users, &one);
		enrich_cgroups(session_pool(s), &s->snapshot, &one);
	}
	copy = *p;
	one.item = (struct process *[]){&copy};
	if (p->pid || v->set.group->needs & NEEDS_CGROUP)
		rows_charge(s, &one);
	view_take_charged(v, &copy);
}
