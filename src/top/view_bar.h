/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A bar of several parts. Each part has its own character, so that it can be told apart without
 * colours.
 */
#ifndef ZMEM_TOP_VIEW_BAR_H
#define ZMEM_TOP_VIEW_BAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "render/line.h"

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
