/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Text of processes made safe for a terminal, and how many columns it takes there. What could steer
 * the terminal, turns the text's direction, cannot be seen or is no UTF-8 becomes \xNN for each
 * byte. A backslash becomes two, so that no name can fake an escape. Knows nothing of lines and
 * columns of a table.
 */
#ifndef ZMEM_RENDER_TEXT_H
#define ZMEM_RENDER_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/utf8.h"

#define TEXT_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD: what is no UTF-8 */
#define TEXT_ELLIPSIS	 "\xe2\x80\xa6" /* U+2026: what was cut off */

/* One character as it is shown; of what is not shown as it is, its escape, which is never cut. */
struct glyph {
	char bytes[16];
	unsigned len;
	unsigned width; /* columns */
};

/* False for the characters that must not be shown as they are. */
static inline bool text_safe(uint32_t c)
{
	/* Most are; and line and paragraph separator break lines for some readers. */
	if (c >= 0x20 && c < 0x7f)
		return true;
	return utf8_printable(c) && c != 0x2028 && c != 0x2029;
}

/* How many bytes from s on are ASCII that is shown as it is: one byte, one column. */
size_t text_plain(const char *s, size_t len);
/* The character at s. Returns the bytes it was made of; len must not be 0. */
size_t text_glyph(const char *s, size_t len, struct glyph *ret);
/*
 * How many bytes of the text to show in `limit` columns (1 or more): all of it where it fits, else
 * what leaves a column for an ellipsis. *ret_width: columns of that, ellipsis included.
 */
size_t text_fit(const char *s, size_t len, unsigned limit, unsigned *ret_width);

#endif
