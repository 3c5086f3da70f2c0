// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "heap/heap_blocks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/array.h"
#include "base/cleanup.h"

#define SIZE_MASK (((uint64_t)1 << ZMEM_HEAP_COARSER) - 1)
/* The list is looked through when it is so long, and twice as long as after the last time. */
#define LIST_FIRST 65536
/* The kernel's map is thinned when it has so many. */
#define LIVE_MAX (ZMEM_HEAP_BLOCKS / 4 * 3)

double heap_blocks_mean(const struct heap_blocks *list, uint32_t coarser)
{
	double mean = ldexp((double)list->sample_bytes, (int)coarser);

	return mean < (double)ZMEM_HEAP_MEAN_MAX ? mean : (double)ZMEM_HEAP_MEAN_MAX;
}

static void set_coarser(struct heap_blocks *list, uint32_t n)
{
	n = n > list->thinned ? n : list->thinned;
	n = n < ZMEM_HEAP_COARSER_MAX ? n : ZMEM_HEAP_COARSER_MAX;
	if (n != list->coarser && grow_watch_heap_coarser(list->watch, n) == 0)
		list->coarser = n;
}

/*
 * Samples as many as the programs hardly feel. What each stands for is decided before it is taken,
 * so that the sum is right on average whatever the rate is.
 */
void heap_blocks_adapt(struct heap_blocks *list, uint64_t samples, uint64_t us)
{
	uint64_t rate = samples * 1000000 / (us + 1);
	uint32_t n = list->coarser;

	for (; rate > HEAP_SAMPLES_MAX; rate /= 2)
		n++;
	for (; n && rate < HEAP_SAMPLES_MAX / 4; rate *= 2)
		n--;
	set_coarser(list, n);
}

static double mean_of_block(const struct heap_blocks *list, const struct heap_block *b)
{
	return heap_blocks_mean(list, b->coarser);
}

static int find_stack(struct heap_blocks *list, uint32_t number)
{
	size_t count = list->stacks ? list->stacks : 256;
	double *moved;

	if (number < list->stacks)
		return 0;
	while (count <= number)
		count *= 2;
	moved = reallocarray(list->allocated, count, sizeof(*moved));
	if (!moved)
		return -ENOMEM;
	memset(moved + list->stacks, 0, (count - list->stacks) * sizeof(*moved));
	list->allocated = moved;
	list->stacks = count;
	return 0;
}

static int compare_live(const void *a, const void *b)
{
	const struct grow_live_block *x = a, *y = b;

	return x->address != y->address ? ORDER_OF(x->address, y->address)
	       : x->time != y->time	? ORDER_OF(x->time, y->time)
					: ORDER_OF(x->target, y->target);
}

/* Removes blocks that were freed from the list. What a process held when it ended stays. */
static int drop_freed(struct heap_blocks *list)
{
	cleanup_free struct grow_live_block *live = NULL;
	size_t count = 0, kept = 0;
	int r = list->count ? grow_watch_heap_list(list->watch, &live, &count) : 0;

	if (r < 0)
		return r;
	if (count)
		qsort(live, count, sizeof(*live), compare_live);
	for (size_t i = 0; i < list->count; i++) {
		const struct heap_block *b = &list->block[i];
		const struct grow_live_block key = {
			.address = b->address, .time = b->time, .target = b->target};

		if (b->end || (count && bsearch(&key, live, count, sizeof(*live), compare_live)))
			list->block[kept++] = *b;
	}
	list->count = list->kept = kept;
	return 0;
}

static double random_part(void)
{
	uint64_t random = 0;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return 0;
	return ldexp((double)(random >> 11), -53);
}

/* The chance that a block stays if samples become so coarse. */
static double chance_to_stay(const struct heap_blocks *list, const struct heap_block *b,
			     uint32_t coarser)
{
	if (b->end || b->coarser >= coarser)
		return 1;
	if (!b->size)
		return 0;
	/* The chances, of which a weight is the reciprocal. */
	return sample_weight(b->size, mean_of_block(list, b)) /
	       sample_weight(b->size, heap_blocks_mean(list, coarser));
}

/*
 * The map is nearly full: samples become so coarse that half of these would be there, and the
 * others go. The rest is a sample as if it had been so from the beginning.
 */
static void thin(struct heap_blocks *list)
{
	uint32_t coarser = list->coarser;
	double sum = (double)list->count;
	size_t kept = 0;

	while (sum > (double)LIVE_MAX / 2 && coarser < ZMEM_HEAP_COARSER_MAX) {
		coarser++;
		sum = 0;
		for (size_t i = 0; i < list->count; i++)
			sum += chance_to_stay(list, &list->block[i], coarser);
	}
	list->thinned = coarser;
	set_coarser(list, coarser);
	for (size_t i = 0; i < list->count; i++) {
		struct heap_block b = list->block[i];

		if (random_part() >= chance_to_stay(list, &b, coarser)) {
			if (grow_watch_heap_has(list->watch, b.target, b.address, b.time))
				grow_watch_heap_forget(list->watch, b.target, b.address);
			continue;
		}
		if (!b.end && b.coarser < coarser)
			b.coarser = coarser;
		list->block[kept++] = b;
	}
	list->count = list->kept = kept;
}

/* A list of blocks grows until it is looked through. */
static int look_through(struct heap_blocks *list)
{
	bool is_long = list->count >= LIST_FIRST && list->count >= 2 * list->kept;
	int r;

	if (!is_long && list->count < LIVE_MAX)
		return 0;
	r = drop_freed(list);
	/* Else it would soon be so long again. */
	if (r == 0 && list->count > LIVE_MAX / 8 * 7)
		thin(list);
	return r;
}

int heap_blocks_add(struct heap_blocks *list, const struct zmem_grow_head *m, uint32_t stack)
{
	const struct heap_block b = {.address = m->address,
				     .time = (uint64_t)m->carried,
				     .size = (uint64_t)m->pages & SIZE_MASK,
				     .coarser = (uint32_t)((uint64_t)m->pages >> ZMEM_HEAP_COARSER),
				     .target = m->target,
				     .stack = stack};
	double weight = sample_weight(b.size, mean_of_block(list, &b));
	int r = find_stack(list, stack);

	if (r == 0)
		r = look_through(list);
	if (r < 0)
		return r;
	if (!array_room(&list->block, list->count, &list->capacity, 1024))
		return -ENOMEM;
	list->block[list->count++] = b;
	list->allocated[stack] += weight;
	list->all += weight;
	return 0;
}

uint32_t heap_blocks_end(struct heap_blocks *list, uint32_t target)
{
	size_t kept = 0;

	list->ends++;
	for (size_t i = 0; i < list->count; i++) {
		struct heap_block b = list->block[i];

		if (b.target == target && !b.end) {
			if (!grow_watch_heap_has(list->watch, target, b.address, b.time))
				continue;
			b.end = list->ends;
			grow_watch_heap_forget(list->watch, target, b.address);
		}
		list->block[kept++] = b;
	}
	list->count = kept;
	return list->ends;
}

void heap_blocks_forget(struct heap_blocks *list, uint32_t end)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++) {
		if (list->block[i].end != end)
			list->block[kept++] = list->block[i];
	}
	list->count = kept;
}

void heap_blocks_clear(struct heap_blocks *list)
{
	for (size_t i = 0; i < list->count; i++) {
		if (!list->block[i].end)
			grow_watch_heap_forget(list->watch, list->block[i].target,
					       list->block[i].address);
	}
	list->count = list->kept = 0;
	free(list->allocated);
	list->allocated = NULL;
	list->stacks = 0;
	list->all = 0;
}

int heap_blocks_sum(struct heap_blocks *list, struct stack_table *stacks)
{
	int r = drop_freed(list);

	for (size_t i = 0; i < stacks->stacks; i++) {
		struct growth_stack *s = &stacks->stack[i];

		s->allocated = i < list->stacks ? (uint64_t)(list->allocated[i] + 0.5) : 0;
		s->held = (struct sample_sum){};
	}
	for (size_t i = 0; i < list->count; i++) {
		const struct heap_block *b = &list->block[i];

		if (b->stack < stacks->stacks)
			sample_sum_block(&stacks->stack[b->stack].held, b->size,
					 mean_of_block(list, b));
	}
	return r;
}

void heap_blocks_done(struct heap_blocks *list)
{
	free(list->block);
	free(list->allocated);
}
