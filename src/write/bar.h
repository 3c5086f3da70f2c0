/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Bars of characters: how a whole is split. */
#ifndef ZMEM_WRITE_BAR_H
#define ZMEM_WRITE_BAR_H

#include "write/line.h"

/* A part of a bar. Its character tells it apart without colours. */
struct bar_part {
	const char *name;
	char sign;
	enum line_attr attr;
	bool known;
	int64_t bytes;
};

/* Draws the bar in brackets. Parts that are unknown or not above 0 take no room. */
void bar_put(struct line *l, const struct bar_part *part, size_t count, uint64_t total,
	     unsigned width);
/* Writes the part's character, its name and a blank; a value follows. */
void bar_put_name(struct line *l, const struct bar_part *part);

#endif
