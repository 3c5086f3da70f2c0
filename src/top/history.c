// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Keeps the history of one value and draws it. */
#include "top/history.h"

#define SPAN_LEAST (1024 * 1024) /* smaller changes do not fill the height of the history */

void history_clear(struct history *h)
{
	h->next = h->count = 0;
}

/* The i-th of the last `count` points. */
static const struct history_point *history_at(const struct history *h, size_t count, size_t i)
{
	return &h->point[(h->next + HISTORY_MAX - count + i) % HISTORY_MAX];
}

void history_add(struct history *h, int64_t time_ms, bool known, uint64_t bytes)
{
	/* Time went back (a frame back, or the clock was set): drop later points. */
	if (h->count && history_at(h, 1, 0)->time_ms > time_ms)
		history_clear(h);
	h->point[h->next] = (struct history_point){time_ms, known, bytes};
	h->next = (h->next + 1) % HISTORY_MAX;
	h->count += h->count < HISTORY_MAX;
}

bool history_draw(const struct history *h, struct line *l, unsigned width, uint64_t *ret_least,
		  uint64_t *ret_most, int64_t *ret_since_ms)
{
	static const char bar[8][4] = {"\xe2\x96\x81", "\xe2\x96\x82", "\xe2\x96\x83",
				       "\xe2\x96\x84", "\xe2\x96\x85", "\xe2\x96\x86",
				       "\xe2\x96\x87", "\xe2\x96\x88"};
	size_t count = h->count < width ? h->count : width;
	uint64_t least = UINT64_MAX, most = 0, span;

	for (size_t i = 0; i < count; i++) {
		const struct history_point *p = history_at(h, count, i);

		if (!p->known)
			continue;
		least = p->bytes < least ? p->bytes : least;
		most = p->bytes > most ? p->bytes : most;
	}
	if (!count || least > most)
		return false;
	span = most - least;
	if (span < SPAN_LEAST)
		span = SPAN_LEAST;
	if (span < most / 100)
		span = most / 100;
	for (size_t i = 0; i < count; i++) {
		const struct history_point *p = history_at(h, count, i);
		double part = p->known ? (double)(p->bytes - least) / (double)span : 0;

		line_text(l, p->known ? bar[(size_t)(part * 7 + 0.5)] : "?", 0);
	}
	*ret_least = least;
	*ret_most = most;
	*ret_since_ms = history_at(h, count, 0)->time_ms;
	return true;
}
