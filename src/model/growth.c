// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sums and places of growth by stack. */
#include "model/growth.h"

const char *const growth_status_name[GROWTH_COUNTERS] = {
	[GROWTH_ANON] = "RssAnon",
	[GROWTH_FILE] = "RssFile",
	[GROWTH_SHMEM] = "RssShmem",
	[GROWTH_SWAP] = "VmSwap",
};

const char *const growth_key[GROWTH_COUNTERS] = {
	[GROWTH_ANON] = "anon",
	[GROWTH_FILE] = "file",
	[GROWTH_SHMEM] = "shmem",
	[GROWTH_SWAP] = "swap",
};

const char *const growth_out_name[GROWTH_OUT_REASONS] = {
	[GROWTH_OUT_TIMEOUT] = "timeout",
	[GROWTH_OUT_DENIED] = "denied",
	[GROWTH_OUT_LIMIT] = "limit",
	[GROWTH_OUT_BUSY] = "busy",
};

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
