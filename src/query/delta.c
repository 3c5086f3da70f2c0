// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Subtracts earlier values. */
#include "query/delta.h"

bool delta_of_totals(enum counter c, const struct totals *now, const struct totals *before,
		     int64_t *ret_bytes)
{
	static const struct totals nothing = {.have = ~(counter_mask)0};
	const struct totals *a = now->processes ? now : &nothing;
	const struct totals *b = before->processes ? before : &nothing;

	return counter_change(c, a->have, a->value, b->have, b->value, ret_bytes);
}

int64_t delta_rate(int64_t bytes, uint64_t us)
{
	double rate = us ? (double)bytes * 1e6 / (double)us : 0;

	if (!us)
		return bytes;
	if (rate >= 0x1p63 || rate <= -0x1p63)
		return rate > 0 ? INT64_MAX : INT64_MIN;
	return (int64_t)(rate < 0 ? rate - 0.5 : rate + 0.5);
}
