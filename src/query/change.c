// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sums processes of two snapshots by a text, or one by one, and sorts the sums. */
#include "query/change.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "query/sums.h"

/* The start of a process that comes from /proc is in whole ticks, 10 ms on every machine. */
#define TICK_NS	  10000000
#define NS_PER_MS 1000000

static int compare_text(const char *a, const char *b)
{
	if (!a || !b)
		return !!a - !!b;
	return strcmp(a, b);
}

static int compare_number(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* Key by key: two groups may have one text, as "a / b" and "c" have with "a" and "b / c". */
static int compare_members(const struct field *key, const struct process *p,
			   const struct process *q)
{
	int r = 0;

	for (size_t i = 0; i < group_key_count(key) && !r; i++)
		r = compare_text(group_key(key, i)->group(p), group_key(key, i)->group(q));
	return r;
}

/* The same group by `key`, or without one the same process. */
static int by_group(const void *a, const void *b, void *key)
{
	const struct group_change *x = a, *y = b;
	const struct process *p = x->process, *q = y->process;
	int r;

	if (key)
		return compare_members(key, x->member, y->member);
	r = compare_number((uint64_t)p->pid, (uint64_t)q->pid);
	return r ? r : compare_number(p->start_ns / TICK_NS, q->start_ns / TICK_NS);
}

/* By name, so that the order does not depend on the sort. */
static int by_name(const struct group_change *x, const struct group_change *y)
{
	int r;

	if (!x->process)
		return compare_text(x->group, y->group);
	r = compare_text(x->process->name, y->process->name);
	return r ? r : by_group(x, y, NULL);
}

/* Largest growth first. */
static int by_change(const void *a, const void *b)
{
	const struct group_change *x = a, *y = b;
	int64_t p = group_change_of(x), q = group_change_of(y);

	return p == q ? by_name(x, y) : p < q ? 1 : -1;
}

static uint64_t amount_of(const struct group_change *c)
{
	return c->after > c->before ? c->after - c->before : c->before - c->after;
}

static int by_amount(const void *a, const void *b)
{
	int r = compare_number(amount_of(b), amount_of(a));

	return r ? r : by_change(a, b);
}

static int by_size(const void *a, const void *b)
{
	const struct group_change *x = a, *y = b;
	int r = compare_number(y->after, x->after);

	return r ? r : by_name(x, y);
}

/* The same process in the other snapshot; NULL: it is not there, or counts nothing there. */
static const struct process *find_same(const struct change_side *other, const struct process *p)
{
	const struct process *q = other->snapshot ? snapshot_find(other->snapshot, p->pid) : NULL;

	return q && q->start_ns / TICK_NS == p->start_ns / TICK_NS && totals_counts(q) ? q : NULL;
}

/*
 * Whether the other snapshot may have left out a process that it does not have: not all were read,
 * and the process was there. It may have ended before as well.
 */
static bool may_be_cut(const struct change_side *other, const struct process *p)
{
	const struct snapshot *s = other->snapshot;
	uint64_t since_boot_ms = s ? (uint64_t)s->time_ms - s->host.boot_ms : 0;

	return s && snapshot_is_cut(s) && p->start_ns / NS_PER_MS <= since_boot_ms;
}

/* Whether it is known that BPF did not see this pid in the other snapshot: it was there, unread. */
static bool is_unread(const struct change_side *other, pid_t pid)
{
	for (int i = 0; other->snapshot && i < NOT_SEEN_PIDS; i++) {
		if (other->snapshot->collection.not_seen_pid[i] == pid)
			return true;
	}
	return false;
}

struct changes_maker {
	const struct field *key;
	counter_mask counters;
	bool same_boot;
	struct group_changes *changes;
};

/* Adds an item for a process of one side. */
static void add_process(struct changes_maker *m, const struct change_side *other, bool after,
			const struct process *p)
{
	const struct process *same = m->same_boot ? find_same(other, p) : NULL;
	struct group_change *item;
	uint64_t sum = 0;
	bool cut = m->same_boot && !same && may_be_cut(other, p);
	bool known = !cut && (p->have & m->counters) == m->counters &&
		     (!same || (same->have & m->counters) == m->counters) &&
		     (same || !m->same_boot || !is_unread(other, p->pid));

	if (!totals_counts(p))
		return;
	for (int c = 0; known && c < COUNTERS_OF_PROCESS; c++)
		sum += m->counters & COUNTER_BIT(c) ? p->value[c] : 0;
	item = &m->changes->item[m->changes->count++];
	*item = (struct group_change){.group = m->key ? m->key->group(p) : NULL,
				      .process = m->key ? NULL : p,
				      .member = m->key ? p : NULL};
	*(after ? &item->procs_after : &item->procs_before) = !cut;
	*(after ? &item->known_after : &item->known_before) = known;
	*(after ? &item->after : &item->before) = sum;
	/* Once, if it is in both. */
	item->missing = !known && (after || !same);
}

static size_t count_of(const struct change_side *s)
{
	return s->rows ? s->rows->count : s->snapshot ? s->snapshot->count : 0;
}

static void add_side(struct changes_maker *m, const struct change_side *s,
		     const struct change_side *other, bool after)
{
	for (size_t i = 0; i < count_of(s); i++)
		add_process(m, other, after, s->rows ? s->rows->item[i] : &s->snapshot->process[i]);
}

static void add_item(struct group_change *to, const struct group_change *from)
{
	to->procs_before += from->procs_before;
	to->procs_after += from->procs_after;
	to->known_before += from->known_before;
	to->known_after += from->known_after;
	to->missing += from->missing;
	to->before += from->before;
	to->after += from->after;
	if (to->process && from->procs_after)
		to->process = from->process;
	/* The same one of all that are equal, in whatever order they are. */
	if (to->member && from->member->pid < to->member->pid)
		to->member = from->member;
}

static void merge(struct group_changes *g, const struct field *key, bool same_boot)
{
	size_t count = 0;

	for (size_t i = 0; i < g->count; i++) {
		const struct group_change *from = &g->item[i];
		struct group_change *to = count ? &g->item[count - 1] : NULL;

		if (!to || by_group(to, from, (void *)key) != 0 || (to->process && !same_boot))
			g->item[count++] = *from;
		else
			add_item(to, from);
	}
	g->count = count;
}

static bool is_same_boot(const struct change_side *a, const struct change_side *b)
{
	return a->snapshot && b->snapshot &&
	       strcmp(a->snapshot->host.boot_id, b->snapshot->host.boot_id) == 0;
}

int group_changes_make(const struct change_side *before, const struct change_side *after,
		       const struct field *key, counter_mask counters, struct group_changes *ret)
{
	struct changes_maker m = {key, counters, is_same_boot(before, after), ret};
	size_t most = count_of(before) + count_of(after);

	*ret = (struct group_changes){.item = calloc(most + 1, sizeof(*ret->item))};
	if (!ret->item)
		return -ENOMEM;
	add_side(&m, before, after, false);
	add_side(&m, after, before, true);
	sort_items(ret->item, ret->count, sizeof(*ret->item), by_group, (void *)key);
	merge(ret, key, m.same_boot);
	qsort(ret->item, ret->count, sizeof(*ret->item), by_change);
	group_changes_sum(ret, 0, ret->count, &ret->total);
	return 0;
}

void group_changes_sum(const struct group_changes *g, size_t first, size_t end,
		       struct group_change *ret)
{
	*ret = (struct group_change){};
	for (size_t i = first; i < end; i++)
		add_item(ret, &g->item[i]);
}

void group_changes_by_size(struct group_changes *g)
{
	qsort(g->item, g->count, sizeof(*g->item), by_size);
}

void group_changes_by_amount(struct group_changes *g)
{
	qsort(g->item, g->count, sizeof(*g->item), by_amount);
}

size_t group_changes_large(const struct group_changes *g, size_t count, uint64_t least)
{
	size_t large = count;

	while (large && amount_of(&g->item[large - 1]) < least)
		large--;
	return large ? large : count;
}

void group_changes_done(struct group_changes *g)
{
	free(g->item);
	*g = (struct group_changes){};
}
