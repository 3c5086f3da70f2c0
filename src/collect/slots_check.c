// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Compares SWAP_PSS from swap slots with smaps_rollup. The layout of swap slots is known by the
 * kernel's types, their meaning is not. In each snapshot some small processes are compared; if one
 * differs that did not move meanwhile, nothing of swap slots is used from then on.
 */
#include <errno.h>
#include <sys/random.h>

#include "base/cleanup.h"
#include "collect/collector_internal.h"
#include "source/swap_source.h"

#define CHECKED 3
#define ROUNDS	4

/* Chooses rows, from a random one on. Returns how many. */
static size_t choose(const struct collector *c, struct process **ret)
{
	const struct rows *rows = &c->rows.chosen;
	uint32_t start = 0;
	size_t count = 0;

	if (getrandom(&start, sizeof(start), GRND_NONBLOCK) != sizeof(start))
		start = 0;
	for (size_t i = 0; i < rows->count && count < CHECKED; i++) {
		struct process *p = rows->item[(start + i) % rows->count];

		if (p->swap_slots && rollup_is_cheap(p))
			ret[count++] = p;
	}
	return count;
}

/* If the SWAP of a process changed meanwhile, the process tells nothing. */
static bool differs(const struct process *p, const struct pool_result *result)
{
	const struct smaps_rollup *f = &result->counters;

	return result->status == PSS_OK && rollup_has(f, ROLLUP_SWAP_PSS) &&
	       rollup_has(f, ROLLUP_SWAP) && f->value[ROLLUP_SWAP] == p->value[COUNTER_SWAP] &&
	       f->value[ROLLUP_SWAP_PSS] / 1024 != p->value[COUNTER_SWAP_PSS] / 1024;
}

/* Keeps the rows that differ from their smaps_rollup. */
static int compare(struct collector *c, struct process **row, size_t *count)
{
	cleanup(arena_release) struct arena_mark mark = arena_mark(&c->snapshot.scratch);
	struct pool_result *result = arena_zalloc(mark.arena, *count, sizeof(*result));
	size_t left = 0;
	int r;

	if (!result)
		return -ENOMEM;
	r = pool_read(c->pool, POOL_ROLLUP, true, row, *count, result);
	for (size_t i = 0; r == 0 && i < *count; i++) {
		if (differs(row[i], &result[i]))
			row[left++] = row[i];
	}
	*count = left;
	return r;
}

/* Reads the swap slots of the rows again; the rows are those of the new reading then. */
static int read_again(struct collector *c, struct snapshot *again, struct process **row,
		      size_t *count)
{
	int r = source_collect_some(c->source, row, *count, again);
	size_t left = 0;

	if (r == 0)
		r = swap_source_read(c->swap, false, again);
	for (size_t i = 0; r == 0 && i < *count; i++) {
		struct process *p = (struct process *)snapshot_find_again(again, row[i]);

		if (p && p->swap_slots)
			row[left++] = p;
	}
	*count = left;
	/* A swap device was switched on or off. */
	return r == -EAGAIN ? 0 : r;
}

void slots_distrust(struct collector *c)
{
	for (size_t i = 0; i < c->snapshot.count; i++) {
		struct process *p = &c->snapshot.process[i];

		p->have &= ~COUNTERS_OF_SWAP_COSTS;
		if (p->swap_slots)
			p->have &= ~COUNTER_BIT(COUNTER_SWAP_PSS);
		p->swap_slots = false;
		process_derive(p);
	}
	c->snapshot.system.swap_cache = (struct swap_cache){};
	c->snapshot.system.files.swap_ram_known = false;
	swap_source_close(c->swap);
	c->swap = NULL;
	c->no_slots = true;
}

int slots_check(struct collector *c)
{
	struct process *row[CHECKED];
	size_t count;
	int r = 0;

	if (!c->swap)
		return 0;
	count = choose(c, row);
	for (unsigned round = 0; r == 0 && count; round++) {
		r = compare(c, row, &count);
		if (r == 0 && count && round + 1 == ROUNDS) {
			slots_distrust(c);
			c->notices |= COLLECT_NOTICE_SLOTS;
			return 0;
		}
		if (r == 0 && count)
			r = read_again(c, &c->again[round % 2], row, &count);
	}
	return r;
}
