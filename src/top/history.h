/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A value over time, as many of the last ones as a line can show. Pure. */
#ifndef ZMEM_TOP_HISTORY_H
#define ZMEM_TOP_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "render/line.h"

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
 * The newest ones, at most `width`, one a column, as bars of eighths between the least and the most
 * of them, which are returned, as is when the first of them was. False if none of them is known:
 * nothing is drawn.
 */
bool history_draw(const struct history *h, struct line *l, unsigned width, uint64_t *ret_least,
		  uint64_t *ret_most, int64_t *ret_since_ms);

#endif
