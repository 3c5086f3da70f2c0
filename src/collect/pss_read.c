// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Chooses the processes whose smaps_rollup is read; src/enrich reads it. */
#include <errno.h>

#include "base/cleanup.h"
#include "collect/collector_internal.h"
#include "source/swap_source.h"

#define EXACT_ROUNDS 6
#define CHEAP	     (8ULL << 20)

struct batch {
	struct process **item; /* room for all rows */
	struct process **recheck;
	size_t recheck_count;
};

/* Entries of swap take as long as pages. */
bool rollup_is_cheap(const struct process *p)
{
	return process_has(p, COUNTER_RSS) && p->value[COUNTER_RSS] <= CHEAP &&
	       process_has(p, COUNTER_SWAP) && p->value[COUNTER_SWAP] <= CHEAP &&
	       p->value[COUNTER_RSS] + p->value[COUNTER_SWAP] <= CHEAP;
}

static int read_batch(struct collector *c, struct batch *b, size_t count)
{
	struct cross_check *check = &c->snapshot.collection.cross_check;
	/* With BPF pss_confirm() checks it. */
	bool check_start = source_origin(c->source) != FROM_BPF;
	cleanup(arena_release) struct arena_mark mark = arena_mark(&c->snapshot.scratch);
	struct pool_result *result = arena_zalloc(mark.arena, count + 1, sizeof(*result));
	int r = -ENOMEM;

	if (result)
		r = pool_read(c->pool, POOL_ROLLUP, check_start, b->item, count, result);
	if (r < 0)
		return r;
	for (size_t i = 0; i < count; i++) {
		struct process *p = b->item[i];

		rollup_apply(p, &result[i]);
		if (p->pss_status != PSS_OK || p->counters_source != FROM_BPF)
			continue;
		check->checked++;
		if (verify_agrees(p, &result[i]))
			check->same++;
		else
			b->recheck[b->recheck_count++] = p;
	}
	return 0;
}

static int read_all(struct collector *c, struct batch *b)
{
	size_t count = 0;

	for (size_t i = 0; i < c->rows.chosen.count; i++) {
		if (c->rows.chosen.item[i]->pss_status == PSS_SKIPPED)
			b->item[count++] = c->rows.chosen.item[i];
	}
	return read_batch(c, b, count);
}

/*
 * The first rounds read only the rows that must be read. If they do not suffice, many rows are
 * alike; then each round reads twice as many rows as the one before, so that there are few rounds.
 */
static int read_top(struct collector *c, const struct order *order, struct batch *b, size_t top)
{
	size_t ask = top, count;

	for (int round = 1;; round++) {
		int r;

		count = order_unread(order, &c->snapshot, &c->rows.chosen, top, b->item);
		if (!count)
			return 0;
		if (round > EXACT_ROUNDS) {
			ask = ask * 2 < c->rows.chosen.count ? ask * 2 : c->rows.chosen.count;
			count = order_unread(order, &c->snapshot, &c->rows.chosen, ask, b->item);
		}
		r = read_batch(c, b, count);
		if (r < 0)
			return r;
	}
}

/* Without swap slots BPF cannot count the processes that share a swap entry; smaps_rollup can. */
static bool lacks_swap_pss(const struct process *p)
{
	return p->pss_source == PSS_FROM_KERNEL && !process_has(p, COUNTER_SWAP_PSS);
}

/* The swapped pages of shared memory that a private mapping has: smaps_rollup alone has them. */
static bool lacks_swap_shmem(const struct collector *c, const struct process *p)
{
	return p->pss_source == PSS_FROM_KERNEL && c->swap_shmem_known &&
	       !process_has(p, COUNTER_SWAP_SHMEM);
}

/*
 * A large process is read if nothing else has the value. Else it is left without one: it moved
 * while its slots were read, or swap was switched on after the start.
 */
static bool may_read(const struct collector *c, const struct process *p)
{
	return lacks_swap_shmem(c, p) ||
	       (lacks_swap_pss(p) &&
		(rollup_is_cheap(p) || c->no_slots || (c->swap && swap_source_refusal(c->swap))));
}

/* A process whose smaps_rollup cannot be read keeps its values. */
static int read_shared_swap(struct collector *c, struct batch *b)
{
	cleanup(arena_release) struct arena_mark mark = arena_mark(&c->snapshot.scratch);
	struct pool_result *result;
	size_t count = 0;
	int r;

	for (size_t i = 0; i < c->rows.chosen.count; i++) {
		struct process *p = c->rows.chosen.item[i];

		if (may_read(c, p))
			b->item[count++] = p;
	}
	result = arena_zalloc(mark.arena, count + 1, sizeof(*result));
	if (!result)
		return -ENOMEM;
	r = pool_read(c->pool, POOL_ROLLUP, true, b->item, count, result);
	for (size_t i = 0; r == 0 && i < count; i++) {
		if (result[i].status == PSS_OK)
			rollup_apply(b->item[i], &result[i]);
	}
	return r;
}

/* Without smaps_rollup, a process with an inconsistent walk has no PSS. */
static void set_unread_status(struct collector *c)
{
	bool refused = source_pss_refusal(c->source);

	for (size_t i = 0; i < c->rows.chosen.count; i++) {
		struct process *p = c->rows.chosen.item[i];

		if (p->kind == PROCESS_USER && p->pss_status == PSS_SKIPPED)
			p->pss_status = refused || p->pages_unknown ? PSS_UNSUPPORTED : PSS_RACED;
	}
}

int pss_read(struct collector *c, const struct query *q, struct process ***ret_recheck,
	     size_t *ret_count)
{
	size_t top = query_certain(q), room = c->rows.chosen.count + 1;
	struct arena *a = &c->snapshot.scratch;
	struct process **item = arena_zalloc(a, room, sizeof(*item));
	struct process **recheck = arena_zalloc(a, room, sizeof(*recheck));
	struct batch b = {.item = item, .recheck = recheck};
	int r;

	if (!item || !recheck)
		return -ENOMEM;
	c->snapshot.collection.cross_check.done = c->snapshot.counters_source == FROM_BPF;
	r = c->spec.verify ? slots_check(c) : 0;
	if (c->spec.pss == PSS_KERNEL) {
		set_unread_status(c);
		return r;
	}
	if (r == 0)
		r = read_shared_swap(c, &b);
	if (r == 0)
		r = top ? read_top(c, &q->order, &b, top) : read_all(c, &b);
	if (r < 0)
		return r;
	*ret_count = b.recheck_count;
	*ret_recheck = recheck;
	return 0;
}

/* Drops the values that may be those of another process with the same pid. */
static void drop_values(struct process *p, enum pss_status status)
{
	for (int i = 0; i < COUNTER_COUNT; i++) {
		if (counter_table[i].origin != ORIGIN_KERNEL)
			p->have &= ~COUNTER_BIT(i);
	}
	p->pss_source = PSS_FROM_NOTHING;
	p->pss_status = status;
	process_derive(p);
}

int pss_distrust(struct collector *c)
{
	char reason[128];

	snprintf(reason, sizeof(reason),
		 "PSS from page tables differed from smaps_rollup in %zu spot check%s",
		 c->pss_wrong, c->pss_wrong == 1 ? "" : "s");
	for (size_t i = 0; i < c->snapshot.count; i++) {
		struct process *p = &c->snapshot.process[i];

		if (p->pss_source == PSS_FROM_KERNEL)
			drop_values(p, PSS_SKIPPED);
	}
	/* The walk of swap slots has the same layout. */
	if (c->swap)
		slots_distrust(c);
	return source_distrust_pss(c->source, reason);
}

/* True if smaps_rollup of the process was tried. */
static bool was_read(const struct process *p)
{
	return p->kind == PROCESS_USER && p->pss_source != PSS_FROM_KERNEL &&
	       p->pss_status != PSS_SKIPPED;
}

int pss_confirm(struct collector *c)
{
	struct process **row =
		arena_zalloc(&c->snapshot.scratch, c->rows.chosen.count + 1, sizeof(*row));
	struct snapshot *after = &c->again[1];
	size_t count = 0;
	int r;

	if (!row)
		return -ENOMEM;
	for (size_t i = 0; i < c->rows.chosen.count; i++) {
		if (was_read(c->rows.chosen.item[i]))
			row[count++] = c->rows.chosen.item[i];
	}
	if (!count)
		return 0;
	r = source_collect_some(c->source, row, count, after);
	for (size_t i = 0; r == 0 && i < count; i++) {
		struct process *p = row[i];
		const struct process *again = snapshot_find_again(after, p);
		bool there = again && again->kind == PROCESS_USER;

		/* This process grows while it reads. */
		if (there && p->pid == c->self) {
			verify_copy_counters(p, again);
			process_derive(p);
		}
		if (p->pss_status == PSS_OK && !there)
			drop_values(p, PSS_GONE);
		else if (p->pss_status == PSS_GONE && there && p->kind == PROCESS_USER)
			p->pss_status = PSS_DENIED;
	}
	return r;
}
