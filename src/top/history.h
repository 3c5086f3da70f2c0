/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The history of one value as a line of bars. */
#ifndef ZMEM_TOP_HISTORY_H
#define ZMEM_TOP_HISTORY_H

#include "write/line.h"

/* As many points as a line can show. */
#define HISTORY_MAX 512

struct history {
	struct history_point {
		int64_t time_ms; /* since the epoch */
		bool known;
		uint64_t bytes;
	} point[HISTORY_MAX]; /* a ring */
	size_t next, count;
};

void history_clear(struct history *h);
void history_add(struct history *h, int64_t time_ms, bool known, uint64_t bytes);
/*
 * Draws the newest points, at most `width`, one a column, as bars in eighths from their minimum on.
 * The scale is at least 1 MiB and 1 % of the maximum, so that noise looks flat. Returns the
 * minimum, the maximum and the time of the first point. Returns false and draws nothing if no point
 * is known.
 */
bool history_draw(const struct history *h, struct line *l, unsigned width, uint64_t *ret_least,
		  uint64_t *ret_most, int64_t *ret_since_ms);

#endif
