// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Decides whose smaps_rollup is read; how, is the business of enrich. */
#include <errno.h>

#include "cli/pss.h"
#include "base/cleanup.h"

#define EXACT_ROUNDS 6

struct batch {
	struct process **item; /* room for all rows */
	struct process **recheck;
	size_t recheck_count;
};

static int read_batch(struct session *s, struct batch *b, size_t count)
{
	struct cross_check *check = &s->snapshot.collection.cross_check;
	bool check_start = source_origin(s->source) != FROM_BPF; /* else pss_confirm() does */
	cleanup(arena_release) struct arena_mark mark = arena_mark(&s->snapshot.scratch);
	struct pool_result *result = arena_zalloc(mark.arena, count + 1, sizeof(*result));
	int r = -ENOMEM;

	if (result)
		r = pool_read(s->pool, POOL_ROLLUP, check_start, b->item, count, result);
	if (r < 0)
		return r;
	for (size_t i = 0; i < count; i++) {
		struct process *p = b->item[i];

		rollup_apply(p, &result[i]);
		if (p->pss_status != PSS_OK || p->counters_source != FROM_BPF)
			continue;
		check->checked++;
		if (rollup_agrees(p, &result[i].counters))
			check->same++;
		else
			b->recheck[b->recheck_count++] = p;
	}
	return 0;
}

static int read_all(struct session *s, struct batch *b)
{
	size_t count = 0;

	for (size_t i = 0; i < s->rows.count; i++) {
		if (s->rows.item[i]->pss_status == PSS_SKIPPED)
			b->item[count++] = s->rows.item[i];
	}
	return read_batch(s, b, count);
}

/*
 * The first rounds read no more than they must. Where that does not settle it, many are alike, and
 * each further round reads twice as many as the one before, so that there are few rounds.
 */
static int read_top(struct session *s, struct batch *b, size_t top)
{
	size_t ask = top, count;

	for (int round = 1;; round++) {
		int r;

		count = order_unread(&s->order, &s->snapshot, &s->rows, top, b->item);
		if (!count)
			return 0;
		if (round > EXACT_ROUNDS) {
			ask = ask * 2 < s->rows.count ? ask * 2 : s->rows.count;
			count = order_unread(&s->order, &s->snapshot, &s->rows, ask, b->item);
		}
		r = read_batch(s, b, count);
		if (r < 0)
			return r;
	}
}

/*
 * How many processes share a swap entry the kernel side cannot tell; smaps_rollup can. Whoever it
 * cannot be read of keeps what is known of it.
 */
static int read_shared_swap(struct session *s, struct batch *b)
{
	cleanup(arena_release) struct arena_mark mark = arena_mark(&s->snapshot.scratch);
	struct pool_result *result;
	size_t count = 0;
	int r;

	for (size_t i = 0; i < s->rows.count; i++) {
		struct process *p = s->rows.item[i];

		if (p->pss_source == PSS_FROM_KERNEL && !process_has(p, COUNTER_SWAP_PSS))
			b->item[count++] = p;
	}
	result = arena_zalloc(mark.arena, count + 1, sizeof(*result));
	if (!result)
		return -ENOMEM;
	r = pool_read(s->pool, POOL_ROLLUP, true, b->item, count, result);
	for (size_t i = 0; r == 0 && i < count; i++) {
		if (result[i].status == PSS_OK)
			rollup_apply(b->item[i], &result[i]);
	}
	return r;
}

/* Without smaps_rollup whoever the kernel side could not vouch for stays without. */
static void give_up(struct session *s)
{
	for (size_t i = 0; i < s->rows.count; i++) {
		struct process *p = s->rows.item[i];

		if (p->kind == PROCESS_USER && p->pss_status == PSS_SKIPPED)
			p->pss_status = p->pages_unknown ? PSS_UNSUPPORTED : PSS_RACED;
	}
}

int pss_read(struct session *s, size_t top, struct process ***ret_recheck, size_t *ret_count)
{
	size_t room = s->rows.count + 1;
	struct arena *a = &s->snapshot.scratch;
	struct process **item = arena_zalloc(a, room, sizeof(*item));
	struct process **recheck = arena_zalloc(a, room, sizeof(*recheck));
	struct batch b = {.item = item, .recheck = recheck};
	int r;

	if (!item || !recheck)
		return -ENOMEM;
	s->snapshot.collection.cross_check.done = s->snapshot.counters_source == FROM_BPF;
	if (s->pss == PSS_KERNEL) {
		give_up(s);
		return 0;
	}
	r = read_shared_swap(s, &b);
	if (r == 0)
		r = top ? read_top(s, &b, top) : read_all(s, &b);
	if (r < 0)
		return r;
	*ret_count = b.recheck_count;
	*ret_recheck = recheck;
	return 0;
}
