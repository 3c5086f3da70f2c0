// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sums and places of growth by stack. */
#include "model/growth.h"

const char *growth_mode_name(enum growth_mode mode)
{
	static const char *const names[GROWTH_MODES] = {
		[GROWTH_DWARF] = "dwarf", [GROWTH_FP] = "fp"};

	return names[mode];
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
	double root = variance > 1 ? variance : 1;

	if (!(variance > 0) || variance > 1e36)
		return variance > 0 ? INT64_MAX : 0;
	/* Newton's method, from above. */
	while (root * root > variance * (1 + 1e-12) && root - variance / root > 1e-6 * root)
		root = (root + variance / root) / 2;
	return (uint64_t)(1.96 * (root + variance / root) / 2 + 0.5);
}

uint64_t growth_still_most(const struct growth_stack *s)
{
	int64_t net = growth_sum(s->net);
	uint64_t most = s->resident + s->unaddressed, left = net > 0 ? (uint64_t)net : 0;

	most = most < left ? most : left;
	return most > s->resident ? most : s->resident;
}

/* Bytes that a stack has added, and those of them that may be there. */
static uint64_t added_by(const struct growth *g, const struct growth_stack *s, uint64_t *ret_there)
{
	int64_t net = growth_sum(s->net);
	uint64_t added = net > 0 ? (uint64_t)net : 0, most = growth_still_most(s);

	*ret_there = g->resident_known && most < added ? most : added;
	return added;
}

void growth_kept(const struct growth *g, uint64_t *ret)
{
	int64_t change = growth_sum(g->change), stacks = growth_sum(g->accounted);
	int64_t least = change < stacks ? change : stacks;
	uint64_t growth = least > 0 ? (uint64_t)least : 0, sum = 0, there = 0;
	double back, of_gone, of_there;

	for (size_t i = 0; i < g->stacks; i++) {
		uint64_t part;

		sum += added_by(g, &g->stack[i], &part);
		there += part;
	}
	/* Of what is gone, and of what is there, the part that was given back. */
	back = sum > growth ? (double)(sum - growth) : 0;
	of_gone = sum > there ? back / (double)(sum - there) : 0;
	of_gone = of_gone < 1 ? of_gone : 1;
	of_there = there ? (back - of_gone * (double)(sum - there)) / (double)there : 0;
	for (size_t i = 0; i < g->stacks; i++) {
		uint64_t part, added = added_by(g, &g->stack[i], &part), given;

		given = (uint64_t)((double)(added - part) * of_gone + (double)part * of_there +
				   0.5);
		ret[i] = given < added ? added - given : 0;
		/* What was rounded. */
		ret[i] = ret[i] < growth ? ret[i] : growth;
		growth -= ret[i];
	}
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
