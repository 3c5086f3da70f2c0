/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The lines above the rows, and the bars in them. */
#ifndef ZMEM_TOP_HEAD_H
#define ZMEM_TOP_HEAD_H

#include "top/shared.h"

/* The lines above the rows. A low terminal has only the first of them. */
enum head_line {
	HEAD_RAM,
	HEAD_SWAP,
	HEAD_SHORTAGE,
	HEAD_COLLECTION,
	HEAD_STATE,
	HEAD_TIMELINE, /* of a recording */
};

/* How many lines the height has room for. */
unsigned head_lines(const struct shared *v);
/* Draws the first `lines`, before HEAD_STATE: what is the same whatever the rows are. */
void head_draw(const struct shared *v, struct screen *s, unsigned lines);
void head_timeline(const struct shared *v, struct screen *s);
/* Parts of the line of the state: the word that it is paused, and an interval. */
void head_put_paused(const struct shared *v, struct line *l);
void head_put_interval(struct line *l, unsigned ms);

/* A part of a bar. Its character tells it apart without colours. */
struct bar_part {
	const char *name;
	char sign;
	enum line_attr attr;
	bool known;
	int64_t bytes;
	bool rare; /* shown last in the legend */
};

/* Draws the bar in brackets. Parts that are unknown or not above 0 take no room. */
void bar_put(struct line *l, const struct bar_part *part, size_t count, uint64_t total,
	     unsigned width);
/* Writes the part's character, its name and a blank; a value follows. */
void bar_put_name(struct line *l, const struct bar_part *part);

#endif
