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

const struct growth_frame *growth_place(const struct growth *g, const struct growth_stack *s,
					size_t *ret_index)
{
	size_t at = 0;

	if (!s->frames)
		return NULL;
	while (at < s->frames && g->frame[s->frame[at]].allocator)
		at++;
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
