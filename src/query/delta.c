// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Subtracts earlier values. */
#include "query/delta.h"

bool delta_of(enum counter c, counter_mask have, const uint64_t *value, counter_mask have_before,
	      const uint64_t *before, int64_t *ret_bytes)
{
	uint64_t now = value[c], then = before[c];
	uint64_t amount = now > then ? now - then : then - now;

	if (!(have & have_before & COUNTER_BIT(c)) || amount > INT64_MAX)
		return false;
	*ret_bytes = now >= then ? (int64_t)amount : -(int64_t)amount;
	return true;
}

bool delta_of_row(const struct row *r, enum counter c, int64_t *ret_bytes)
{
	return r->before && c < COUNTERS_OF_PROCESS &&
	       delta_of(c, r->process->have, r->process->value, r->before->have, r->before->value,
			ret_bytes);
}

bool delta_of_totals(enum counter c, const struct totals *now, const struct totals *before,
		     int64_t *ret_bytes)
{
	static const struct totals nothing = {.have = ~(counter_mask)0};
	const struct totals *a = now->processes ? now : &nothing;
	const struct totals *b = before->processes ? before : &nothing;

	return delta_of(c, a->have, a->value, b->have, b->value, ret_bytes);
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
