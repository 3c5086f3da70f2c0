// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "write/bar.h"

/* Each part ends at the rounded sum so far, so that rounding errors do not add up. */
void bar_put(struct line *l, const struct bar_part *part, size_t count, uint64_t total,
	     unsigned width)
{
	uint64_t sum = 0;
	unsigned at = 0;

	line_ascii(l, "[", 1);
	for (size_t i = 0; i < count; i++) {
		unsigned end;

		if (!part[i].known || part[i].bytes <= 0)
			continue;
		sum += (uint64_t)part[i].bytes;
		end = sum < total ? (unsigned)((double)sum / (double)total * width + 0.5) : width;
		l->attr = part[i].attr;
		for (; at < end && at < width; at++)
			line_ascii(l, &part[i].sign, 1);
	}
	l->attr = ATTR_NORMAL;
	line_blanks(l, width - at);
	line_ascii(l, "]", 1);
}

void bar_put_name(struct line *l, const struct bar_part *part)
{
	line_blanks(l, 1);
	l->attr = part->attr;
	line_ascii(l, &part->sign, 1);
	line_text(l, part->name, 0);
	l->attr = ATTR_NORMAL;
	line_blanks(l, 1);
}
