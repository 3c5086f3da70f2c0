// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Ranks groups by a mean of PSS and swap that decays over time. */
#include "serve/group_tracker.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"

/* Groups tracked for each one shown: a group that comes to be shown then has a history. */
#define TRACKED_PER_SHOWN 4

/* The weight of old values halves in about seven minutes. */
#define MEMORY_US (10 * 60 * UINT64_C(1000000))

int group_tracker_init(struct group_tracker *t, size_t shown, uint64_t seed)
{
	*t = (struct group_tracker){.seed = seed, .shown_max = shown};
	return space_saving_init(&t->groups, shown * TRACKED_PER_SHOWN);
}

void group_tracker_done(struct group_tracker *t)
{
	space_saving_done(&t->groups);
}

/* The seed prevents that a user chooses a name that collides with another group's. */
static uint64_t key_of(const struct group_tracker *t, const char *text)
{
	/* A group without a name has a key of its own. */
	uint64_t h = hash_text(HASH_START ^ t->seed, text ? text : "\1");

	return h ^ h >> 29;
}

uint64_t group_weight(const struct process *p)
{
	uint64_t ram = process_has(p, COUNTER_PSS) ? p->value[COUNTER_PSS] : p->value[COUNTER_RSS];
	uint64_t swap = process_has(p, COUNTER_SWAP_PSS) ? p->value[COUNTER_SWAP_PSS]
							 : p->value[COUNTER_SWAP];

	return ram + swap;
}

struct ranked {
	struct row row;
	double rank, weight;
	size_t place; /* index in the input */
};

static int heaviest_first(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;

	if (a->rank != b->rank)
		return a->rank < b->rank ? 1 : -1;
	return ORDER_OF(a->place, b->place);
}

static int by_place(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;

	return ORDER_OF(a->place, b->place);
}

static struct ranked *rank_all(const struct rows *groups)
{
	struct ranked *r = calloc(groups->count + 1, sizeof(*r));

	for (size_t i = 0; r && i < groups->count; i++) {
		double weight = (double)group_weight(groups->item[i].process);

		r[i] = (struct ranked){groups->item[i], weight, weight, i};
	}
	return r;
}

/* Moves the groups to show to the front and keeps their order. Returns their number. */
static size_t choose(const struct group_tracker *t, const char *(*text)(const struct process *),
		     struct ranked *r, struct rows *groups)
{
	size_t shown = groups->count < t->shown_max ? groups->count : t->shown_max;

	for (size_t i = 0; i < groups->count && shown < groups->count; i++) {
		double least = space_saving_least(&t->groups, key_of(t, text(r[i].row.process)));

		r[i].rank = least > r[i].weight ? least : r[i].weight;
	}
	qsort(r, groups->count, sizeof(*r), heaviest_first);
	qsort(r, shown, sizeof(*r), by_place);
	for (size_t i = 0; i < groups->count; i++)
		groups->item[i] = r[i].row;
	return shown;
}

/*
 * Adds the heaviest groups last, so that no later group evicts them. The weight of a
 * collection is the time since the previous one.
 */
int group_tracker_update(struct group_tracker *t, uint64_t now_us,
			 const char *(*text)(const struct process *), struct rows *groups,
			 size_t *ret_shown)
{
	cleanup_free struct ranked *r = rank_all(groups);
	uint64_t passed = now_us > t->last_us ? now_us - t->last_us : 0;
	double decay = (double)MEMORY_US / (double)(MEMORY_US + passed);

	if (!r)
		return -ENOMEM;
	if (!t->last_us)
		decay = 0;
	t->last_us = now_us;
	space_saving_fade(&t->groups, decay);
	qsort(r, groups->count, sizeof(*r), heaviest_first);
	for (size_t i = groups->count; i-- > 0;)
		space_saving_add(&t->groups, key_of(t, text(r[i].row.process)),
				 r[i].weight * (1 - decay));
	*ret_shown = choose(t, text, r, groups);
	return 0;
}
