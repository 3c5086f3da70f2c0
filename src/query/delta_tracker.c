// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Joins rows with their earlier values.
 *
 * The identity of a row is a struct delta_key: pid and start time of a process, a keyed hash of the
 * texts of a group's keys. delta_tracker_join() looks each new row up among the sorted keys of the
 * earlier rows. A row that is found gets its earlier values (row.before), counts a tick of growth,
 * and is changed if its hash differs. A row that is not found has either begun since, and changed
 * from nothing, or it was not among the rows, and its change is not known: the start of the process
 * tells which.
 *
 * delta_tracker_update() then keeps the new rows for the next join. It has two pieces of memory
 * that take turns: rows point into one, while their values are copied to the other. With
 * `from_start` a row that stays keeps the first value of each counter, so that a change is one
 * since the start.
 *
 * A command that lets the user switch between processes and groups, and between both kinds of
 * change, has a tracker of each (struct delta_set), so that no switch forgets the earlier values. A
 * snapshot that is cut (not all was read) is joined with nothing and not kept: the next one
 * is compared with the one before it.
 */
#include "query/delta_tracker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "query/group.h"

/* The kernel tells the start in whole clock ticks: a new process may seem this much older. */
#define START_SLACK_MS 20
#define NS_PER_MS      1000000

void delta_tracker_init(struct tracker *tracker, uint64_t seed, bool from_start)
{
	*tracker = (struct tracker){.seed = seed, .from_start = from_start};
	tracker->nothing.have = ~(counter_mask)0;
	tracker->nothing.last_counter = COUNTER_COUNT;
}

static void rows_free(struct delta_rows *r)
{
	free(r->key);
	free(r->row);
	*r = (struct delta_rows){0};
}

void delta_tracker_done(struct tracker *tracker)
{
	rows_free(&tracker->rows);
	rows_free(&tracker->spare);
}

/* ---- the identity and the hash of a row ---- */

static uint64_t hash_words(uint64_t h, const char *text)
{
	size_t len = text ? strlen(text) : 0;

	return hash_bytes(hash_number(h, text ? len : UINT64_MAX), text, len);
}

static struct delta_key key_of(const struct tracker *tracker, const struct field *group,
			       const struct process *p)
{
	struct delta_key key = {.pid = p->pid, .key = p->start_ns};

	if (group) {
		key.pid = 0;
		/* The number identifies a user: two users may have one name. */
		key.key = hash_number(tracker->seed, group->needs & NEEDS_USER ? p->uid : 0);
		for (size_t i = 0; i < group_keys_of(group, p); i++)
			key.key = hash_words(key.key, group_key(group, i)->group(p));
	}
	return key;
}

static uint64_t hash_of(const struct tracker *tracker, const struct row *r)
{
	const struct process *p = r->process;
	uint64_t h = hash_number(tracker->seed, p->have);

	for (int c = 0; c < COUNTER_COUNT; c++)
		h = process_has(p, c) ? hash_number(h, process_value(p, c)) : h;
	h = hash_number(h, (uint64_t)p->uid << 32 | p->threads);
	h = hash_number(h, (uint64_t)(uint32_t)p->oom_score_adj << 32 | (uint32_t)p->ppid);
	h = hash_number(h, (uint64_t)r->procs << 32 | r->pss_missing);
	h = hash_number(h,
			(uint64_t)p->pss_status << 16 | (uint64_t)p->pss_source << 8 | p->mm_owner);
	h = hash_number(h, p->cgroup_key);
	/* The name is left out: it may be cut in one tick and whole in the next. */
	return hash_words(h, p->comm);
}

static int compare_keys(const void *pa, const void *pb)
{
	const struct delta_key *a = pa, *b = pb;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return ORDER_OF(a->key, b->key);
}

static int compare_sorted(const void *a, const void *b, void *arg)
{
	(void)arg;
	return compare_keys(a, b);
}

static const struct row_before *find(const struct delta_rows *r, const struct delta_key *key)
{
	const struct delta_key *found = NULL;

	if (r->count)
		found = bsearch(key, r->key, r->count, sizeof(*key), compare_keys);
	return found ? &r->row[found->row] : NULL;
}

/* ---- joining ---- */

static int64_t boot_ms(const struct snapshot *s)
{
	return s->host.boot_ms ? s->time_ms - (int64_t)s->host.boot_ms : 0;
}

/* The row was not there last time. True: it did not exist. False: it was not among the rows. */
static bool has_begun_since(const struct tracker *tracker, const struct process *p)
{
	return !p->pid ||
	       (int64_t)(p->start_ns / NS_PER_MS) + START_SLACK_MS >= tracker->last_boot_ms;
}

/*
 * By how much a counter rose in a second. A thread that ended took its part with it. Rounds up: one
 * in a minute is not none.
 */
static bool rate_of(const struct row *r, enum counter c, uint64_t last, int64_t now_ms,
		    uint32_t *ret)
{
	const struct row_before *b = r->before;
	const struct process *p = r->process;
	uint64_t ms = (uint64_t)(now_ms - b->last_ms), rate;

	if (!(p->have & b->last_have & COUNTER_BIT(c)) || p->value[c] < last ||
	    now_ms <= b->last_ms)
		return false;
	rate = ((p->value[c] - last) * 1000 + ms - 1) / ms;
	*ret = rate < UINT32_MAX ? (uint32_t)rate : UINT32_MAX;
	return true;
}

/* Whether it swaps now, and waits for memory. */
static void count_swapping(struct row *r, int64_t now_ms)
{
	const struct row_before *b = r->before;
	const struct process *p = r->process;

	r->swaps = p->have & b->last_have & COUNTER_BIT(COUNTER_SWAP) &&
		   p->value[COUNTER_SWAP] != b->last_swap;
	r->swapin_known = rate_of(r, COUNTER_SWAPINS, b->last_swapins, now_ms, &r->swapin);
	r->wait_known = rate_of(r, COUNTER_MEM_WAIT, b->last_wait, now_ms, &r->wait);
	/* From µs to ms. */
	r->wait = r->wait_known ? (r->wait + 999) / 1000 : 0;
}

static void add_step(struct row_steps *s, uint64_t last, uint64_t now)
{
	uint64_t step = now > last ? now - last : last - now;

	s->ticks++;
	if (now > last) {
		s->up++;
		s->gained += step;
		s->most_gained = step > s->most_gained ? step : s->most_gained;
	} else if (now < last) {
		s->down++;
		s->lost += step;
		s->most_lost = step > s->most_lost ? step : s->most_lost;
	}
}

/* How its size changed so far, this tick included. Another counter begins anew. */
static struct row_steps steps_of(const struct row *r, uint64_t *ret_size, enum counter *ret_counter)
{
	const struct row_before *b = r->before;
	struct row_steps steps = {};

	*ret_counter = row_size(r->process, ret_size);
	if (b && *ret_counter != COUNTER_COUNT && b->last_counter == *ret_counter) {
		steps = b->steps;
		add_step(&steps, b->last, *ret_size);
	}
	return steps;
}

static void count_growth(struct row *r, int64_t now_ms)
{
	const struct row_before *b = r->before;
	enum counter c;
	uint64_t size;
	const struct row_steps steps = steps_of(r, &size, &c);

	r->ticks = steps.ticks;
	r->grew_ticks = steps.up;
	if (!steps.ticks || now_ms <= b->first_ms)
		return;
	r->grown = (int64_t)(size - b->first);
	r->watched_ms = (uint64_t)(now_ms - b->first_ms);
	r->stands_out = row_stands_out(&steps, r->grown);
}

static void join_row(const struct tracker *tracker, const struct field *group,
		     const struct snapshot *s, struct row *r, struct delta_counts *counts)
{
	struct delta_key key = key_of(tracker, group, r->process);

	r->before = find(&tracker->rows, &key);
	if (r->before) {
		count_growth(r, s->time_ms);
		count_swapping(r, s->time_ms);
		r->changed = r->before->hash != r->hash;
		counts->changed += r->changed;
		/* A recording may have a row twice. */
		counts->ended -= counts->ended > 0;
		return;
	}
	counts->started++;
	r->started = has_begun_since(tracker, r->process);
	if (r->started) {
		uint64_t size;

		row_size(r->process, &size);
		r->grown = size <= INT64_MAX ? (int64_t)size : INT64_MAX;
		r->before = &tracker->nothing;
	}
}

void delta_tracker_join(const struct tracker *tracker, const struct field *group,
			struct snapshot *s, struct rows *rows, struct delta_counts *ret)
{
	int64_t ms = s->time_ms - tracker->since_ms;
	bool joins = tracker->taken && !snapshot_is_cut(s);

	/* If the clock was set back, the time between is not known. */
	s->change_us = joins && !tracker->from_start && ms > 0 ? (uint64_t)ms * 1000 : 0;
	*ret = (struct delta_counts){.ended = joins ? tracker->rows.count : 0};
	for (size_t i = 0; i < rows->count; i++) {
		struct row *r = &rows->item[i];

		r->before = NULL;
		r->changed = true;
		r->started = false;
		r->swaps = r->swapin_known = r->wait_known = false;
		r->grew_ticks = r->ticks = 0;
		r->stands_out = false;
		r->grown = 0;
		r->watched_ms = 0;
		r->hash = hash_of(tracker, r);
		if (joins)
			join_row(tracker, group, s, r, ret);
	}
}

/* ---- keeping ---- */

static int make_room(struct delta_rows *r, size_t count)
{
	struct delta_key *key;
	struct row_before *row;
	size_t capacity;

	if (room_is_idle(r->capacity, count, &r->idle))
		rows_free(r);
	capacity = r->capacity ? r->capacity : 256;
	if (count <= r->capacity)
		return 0;
	while (capacity < count)
		capacity *= 2;
	key = reallocarray(r->key, capacity, sizeof(*key));
	if (!key)
		return -ENOMEM;
	r->key = key;
	row = reallocarray(r->row, capacity, sizeof(*row));
	if (!row)
		return -ENOMEM;
	r->row = row;
	r->capacity = capacity;
	return 0;
}

/* from_start: keeps the first value that was measured of each counter. */
static void store_row(const struct tracker *tracker, const struct row *r, int64_t now_ms,
		      struct row_before *ret)
{
	const struct row_before *first = tracker->from_start ? r->before : NULL;
	const struct process *p = r->process;
	enum counter c;
	uint64_t size;

	ret->have = p->have;
	ret->hash = r->hash;
	ret->steps = steps_of(r, &size, &c);
	ret->last = size;
	ret->last_counter = (uint8_t)c;
	ret->last_swap = p->value[COUNTER_SWAP];
	ret->last_swapins = p->value[COUNTER_SWAPINS];
	ret->last_wait = p->value[COUNTER_MEM_WAIT];
	ret->last_have = p->have;
	ret->last_ms = now_ms;
	/* What it grew by is known: `first` is that of the counter. */
	ret->first = ret->last - (r->watched_ms ? (uint64_t)r->grown : 0);
	ret->first_ms = now_ms - (int64_t)r->watched_ms;
	memcpy(ret->value, p->value, sizeof(ret->value));
	for (int i = 0; first && i < COUNTERS_OF_PROCESS; i++) {
		if (first->have & COUNTER_BIT(i)) {
			ret->have |= COUNTER_BIT(i);
			ret->value[i] = first->value[i];
		}
	}
}

int delta_tracker_update(struct tracker *tracker, const struct field *group,
			 const struct snapshot *s, const struct rows *rows,
			 const struct totals *totals)
{
	struct delta_rows *to = &tracker->spare, done;
	int r;

	/* The next one is compared with the one before this. */
	if (snapshot_is_cut(s))
		return 0;
	r = make_room(to, rows->count);
	if (r < 0)
		return r;
	for (size_t i = 0; i < rows->count; i++) {
		store_row(tracker, &rows->item[i], s->time_ms, &to->row[i]);
		to->key[i] = key_of(tracker, group, rows->item[i].process);
		to->key[i].row = (uint32_t)i;
	}
	to->count = rows->count;
	sort_items(to->key, to->count, sizeof(*to->key), compare_sorted, NULL);
	if (!tracker->taken || !tracker->from_start) {
		tracker->totals = *totals;
		tracker->since_ms = s->time_ms;
	}
	tracker->last_boot_ms = boot_ms(s);
	tracker->taken = true;
	done = tracker->rows;
	tracker->rows = *to;
	tracker->spare = done;
	return 0;
}

/* ---- the set of trackers of a command ---- */

static bool is_first(enum delta_kind kind)
{
	return kind == DELTA_PROCESSES_FIRST || kind == DELTA_GROUPS_FIRST;
}

static void forget(struct delta_set *set, enum delta_kind kind)
{
	uint64_t seed = set->tracker[kind].seed;

	delta_tracker_done(&set->tracker[kind]);
	delta_tracker_init(&set->tracker[kind], seed, is_first(kind));
}

void delta_set_init(struct delta_set *set, uint64_t seed, bool all)
{
	*set = (struct delta_set){.all = all};
	for (int i = 0; i < DELTA_KINDS; i++)
		delta_tracker_init(&set->tracker[i], seed, is_first(i));
}

void delta_set_done(struct delta_set *set)
{
	for (int i = 0; i < DELTA_KINDS; i++)
		delta_tracker_done(&set->tracker[i]);
}

void delta_set_forget_last(struct delta_set *set)
{
	forget(set, DELTA_PROCESSES);
	forget(set, DELTA_GROUPS);
}

void delta_set_begin(struct delta_set *set, const struct query *q, bool from_start)
{
	const struct tracker *tracker;
	uint64_t tick = set->delta.tick;

	if (set->group != q->group) {
		forget(set, DELTA_GROUPS);
		forget(set, DELTA_GROUPS_FIRST);
		set->group = q->group;
	}
	set->now = q->group ? DELTA_GROUPS : DELTA_PROCESSES;
	set->now += from_start;
	set->joined = false;
	tracker = &set->tracker[set->now];
	set->delta = (struct delta){
		.known = tracker->taken,
		.from_start = tracker->from_start,
		.since_ms = tracker->since_ms,
		.before = tracker->totals,
		.only_changed = q->only_changed,
		.tick = tick,
	};
	/* Totals of other processes are not compared: another filter, or rows above --min. */
	if (q->min || (tracker->taken && set->filter[set->now] != query_filter_key(q)))
		set->delta.before = (struct totals){.processes = 1};
}

void delta_set_join(struct delta_set *set, const struct field *group, struct snapshot *s,
		    struct rows *rows)
{
	delta_tracker_join(&set->tracker[set->now], group, s, rows, &set->delta.counts);
	set->joined = true;
	/* Groups and totals lack what was not read. */
	if (snapshot_is_cut(s)) {
		set->delta.known = false;
		set->delta.before = (struct totals){.processes = 1};
	}
}

static int update(struct delta_set *set, enum delta_kind kind, const struct query *q,
		  struct snapshot *s, struct rows *rows, const struct totals *totals)
{
	struct tracker *tracker = &set->tracker[kind];
	const struct field *group = kind >= DELTA_GROUPS ? q->group : NULL;
	bool keeps_filter = tracker->from_start && tracker->taken;
	struct delta_counts counts;
	int r;

	if (kind != set->now || !set->joined)
		delta_tracker_join(tracker, group, s, rows, &counts);
	r = delta_tracker_update(tracker, group, s, rows, totals);
	if (r == 0 && !keeps_filter && !snapshot_is_cut(s))
		set->filter[kind] = query_filter_key(q);
	return r;
}

/* The rows of a kind. Where rows are groups, those of processes are made for it. */
static int rows_of_kind(enum delta_kind kind, const struct query *q, struct query_rows *rows,
			struct rows **ret)
{
	*ret = &rows->all;
	if (kind >= DELTA_GROUPS || !(q->group || q->tree))
		return 0;
	*ret = &rows->processes;
	return rows_of(&rows->processes, rows->matched.item, rows->matched.count);
}

int delta_set_update(struct delta_set *set, const struct query *q, struct snapshot *s,
		     struct query_rows *rows, const struct totals *totals)
{
	struct rows *of_kind;
	int r = rows_of_kind(set->now, q, rows, &of_kind);

	/* The kind that is joined already comes first: joining another kind overwrites that. */
	if (r == 0)
		r = update(set, set->now, q, s, of_kind, totals);
	for (int kind = 0; r == 0 && set->all && kind < DELTA_KINDS; kind++) {
		if (kind == (int)set->now || (kind >= DELTA_GROUPS && !q->group))
			continue;
		r = rows_of_kind(kind, q, rows, &of_kind);
		if (r == 0)
			r = update(set, kind, q, s, of_kind, totals);
	}
	set->joined = false;
	return r;
}

/* ---- what is told of changes ---- */

bool delta_of_totals(enum counter c, const struct totals *now, const struct totals *before,
		     int64_t *ret_bytes)
{
	static const struct totals nothing = {.have = ~(counter_mask)0};
	const struct totals *a = now->processes ? now : &nothing;
	const struct totals *b = before->processes ? before : &nothing;

	return counter_change(c, a->have, a->value, b->have, b->value, ret_bytes);
}

int64_t delta_rate(int64_t bytes, uint64_t us)
{
	double rate = us ? (double)bytes * 1e6 / (double)us : 0;

	if (!us)
		return bytes;
	if (rate >= 0x1p63 || rate <= -0x1p63)
		return rate > 0 ? INT64_MAX : INT64_MIN;
	return (int64_t)(rate < 0 ? rate - 0.5 : rate + 0.5);
}
