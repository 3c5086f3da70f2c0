// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sums and places of growth by stack. */
#include "model/growth.h"

#include <math.h>

#include "base/array.h"

void growth_stack_add(struct growth_stack *to, const struct growth_stack *s)
{
	for (int i = 0; i < GROWTH_COUNTERS; i++)
		to->net[i] += s->net[i];
	to->recent += s->recent;
	to->gross += s->gross;
	to->resident += s->resident;
	to->unaddressed += s->unaddressed;
	to->changes += s->changes;
	to->variance += s->variance;
	to->copied += s->copied;
	to->allocated += s->allocated;
	sample_sum_add(&to->held, &s->held);
}

int64_t growth_sum(const int64_t bytes[GROWTH_COUNTERS])
{
	int64_t sum = 0;

	for (int i = 0; i < GROWTH_COUNTERS; i++)
		sum += bytes[i];
	return sum;
}

uint64_t growth_error(double variance)
{
	if (variance > 1e36)
		return INT64_MAX;
	return variance > 0 ? (uint64_t)(1.96 * sqrt(variance) + 0.5) : 0;
}

uint64_t growth_held(const struct growth_stack *s)
{
	return (uint64_t)(s->held.sum + 0.5);
}

struct growth_bounds growth_held_bounds(const struct growth *g, const struct growth_stack *s)
{
	double least, most;

	sample_sum_bounds(&s->held, g->heap.mean_most, &least, &most);
	/* Whatever is rounded, the sum is between them. */
	return (struct growth_bounds){(uint64_t)least, (uint64_t)ceil(most)};
}

uint64_t growth_still_most(const struct growth_stack *s)
{
	int64_t net = growth_sum(s->net);
	uint64_t most = s->resident + s->unaddressed, left = net > 0 ? (uint64_t)net : 0;

	most = most < left ? most : left;
	return most > s->resident ? most : s->resident;
}

const struct growth_frame *growth_place(const struct growth *g, const struct growth_stack *s,
					size_t *ret_index)
{
	size_t at = 0;

	if (!s->frames)
		return NULL;
	while (at < s->frames && g->frame[s->frame[at]].allocator)
		at++;
	/* Wrappers were found by other stacks. */
	if (at == s->frames) {
		for (at = 0; at < s->frames && !g->frame[s->frame[at]].wrapper;)
			at++;
	}
	/* An interpreter that runs no function with a name is the program itself. */
	if (at == s->frames) {
		for (at = 0; at < s->frames && !g->frame[s->frame[at]].interpreter;)
			at++;
	}
	if (at == s->frames)
		at = 0;
	*ret_index = at;
	return &g->frame[s->frame[at]];
}

/* ---- what places have ---- */

/* The function of a frame from the place outwards. */
static uint32_t function_at(const struct growth *g, const struct growth_part *p, size_t i)
{
	uint32_t number = p->stack->frame[p->place + i];

	return g->frame[number].source ? g->frame[number].function : number;
}

static size_t frames_of(const struct growth_part *p)
{
	return p->stack->frames - p->place;
}

/* By place, then by its callers. */
static int compare_paths(const void *a, const void *b, void *arg)
{
	const struct growth_part *x = a, *y = b;

	for (size_t i = 0; i < frames_of(x) && i < frames_of(y); i++) {
		uint32_t p = function_at(arg, x, i), q = function_at(arg, y, i);

		if (p != q)
			return ORDER_OF(p, q);
	}
	return frames_of(x) != frames_of(y) ? ORDER_OF(frames_of(x), frames_of(y))
					    : x->stack->truncated - y->stack->truncated;
}

static int compare_places(const void *a, const void *b, void *arg)
{
	const struct growth_part *x = a, *y = b;

	return frames_of(x) && frames_of(y)
		       ? ORDER_OF(function_at(arg, x, 0), function_at(arg, y, 0))
		       : ORDER_OF(frames_of(x), frames_of(y));
}

/* The parts that have the sign of the sum share it; the others have nothing. */
static void share_sum(struct growth_part *part, size_t count)
{
	int64_t sum = 0, same = 0, so_far = 0, done = 0;

	for (size_t i = 0; i < count; i++)
		sum += part[i].bytes;
	for (size_t i = 0; i < count; i++) {
		if (!sum || (part[i].bytes > 0) != (sum > 0))
			part[i].bytes = 0;
		same += part[i].bytes;
	}
	/* Each share ends where the next one begins: nothing is lost by rounding. */
	for (size_t i = 0; i < count && same; i++) {
		so_far += part[i].bytes;
		part[i].bytes = (int64_t)((__int128)sum * so_far / same) - done;
		done += part[i].bytes;
	}
}

static void settle_groups(const struct growth *g, struct growth_part *part,
			  int (*compare)(const void *a, const void *b, void *arg))
{
	for (size_t i = 0, end; i < g->stacks; i = end) {
		for (end = i + 1; end < g->stacks; end++) {
			if (compare(&part[i], &part[end], (void *)g) != 0)
				break;
		}
		share_sum(&part[i], end - i);
	}
}

void growth_parts(const struct growth *g, struct growth_part *ret)
{
	for (size_t i = 0; i < g->stacks; i++) {
		ret[i] = (struct growth_part){.stack = &g->stack[i],
					      .bytes = growth_sum(g->stack[i].net)};
		growth_place(g, &g->stack[i], &ret[i].place);
	}
	sort_items(ret, g->stacks, sizeof(*ret), compare_paths, (void *)g);
	settle_groups(g, ret, compare_paths);
	settle_groups(g, ret, compare_places);
}
