// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What happens in the machine in a second, and which OOM kills happened in the last hour. */
#include "model/system.h"

#include <string.h>

/* Two readings of one snapshot are no time apart. */
#define APART_LEAST_US 100000

/* Rounds up: one in a minute is not none. */
static uint64_t per_second(uint64_t before, uint64_t now, uint64_t us)
{
	unsigned __int128 sum = (unsigned __int128)(now - before) * 1000000 + us - 1;

	return now > before ? (uint64_t)(sum / us) : 0;
}

void machine_rates_make(const struct machine_totals *before, const struct machine_totals *now,
			struct machine_rates *ret)
{
	const uint64_t us = now->read_us - before->read_us;

	*ret = (struct machine_rates){};
	if (!before->known || !now->known || now->read_us < before->read_us + APART_LEAST_US)
		return;
	ret->known = true;
	ret->swapped_in = per_second(before->swapped.in, now->swapped.in, us);
	ret->swapped_out = per_second(before->swapped.out, now->swapped.out, us);
	ret->refaulted = per_second(before->refaulted, now->refaulted, us);
	ret->scanned = per_second(before->scanned, now->scanned, us);
}

#define HOUR_MS (60 * 60 * 1000)

static void forget_old(struct kill_history *h, int64_t since_ms)
{
	size_t old = 0;

	while (old < h->count && h->item[old].time_ms < since_ms)
		old++;
	/* With too many, the two newest become one: kills of the hour stay in it. */
	if (!old && h->count == KILLS_KEPT) {
		h->count--;
		h->item[h->count - 1].count += h->item[h->count].count;
		h->item[h->count - 1].time_ms = h->item[h->count].time_ms;
		return;
	}
	memmove(h->item, h->item + old, (h->count - old) * sizeof(*h->item));
	h->count -= old;
}

void kill_history_add(struct kill_history *h, const struct oom_kills *now, int64_t now_ms,
		      int64_t boot_ms, struct recent_kills *ret)
{
	const int64_t since_ms = now_ms - HOUR_MS;

	*ret = (struct recent_kills){};
	if (!now->known)
		return;
	/* Of a recording: the machine booted again, or its clock was set back. */
	if (h->began && (now->count < h->last || now_ms < h->begin_ms))
		*h = (struct kill_history){};
	forget_old(h, since_ms);
	if (h->began && now->count > h->last) {
		h->item[h->count].time_ms = now_ms;
		h->item[h->count++].count = now->count - h->last;
	}
	if (!h->began) {
		h->begin_ms = now_ms;
		/* None since boot, or all of them are of the hour. */
		if (!h->before.known && (!now->count || (boot_ms && boot_ms >= since_ms))) {
			h->before.known = true;
			h->before.count = now->count;
		}
	}
	h->began = true;
	h->last = now->count;
	/* Of the hour before the series, how long ago each was is not known, but of the last one.
	 */
	if (h->begin_ms >= since_ms)
		*ret = h->before;
	if (ret->last_ms && ret->last_ms < since_ms && !ret->unrecorded)
		*ret = (struct recent_kills){.known = ret->known};
	ret->recorded = h->before.recorded;
	if (!ret->known && h->begin_ms >= since_ms)
		ret->since_ms = h->begin_ms;
	for (size_t i = 0; i < h->count; i++)
		ret->count += h->item[i].count;
	/* The last one of the recording was not the last. */
	if (h->count) {
		ret->last_ms = 0;
		*ret->name = *ret->cgroup = '\0';
	}
	/* Without anything to compare with, a single snapshot knows nothing. */
	ret->known |= h->begin_ms < now_ms;
}
