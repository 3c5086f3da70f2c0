/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One line on a terminal: counts columns, cuts what does not fit, leaves no blanks at the end and
 * switches attributes only around what is written. Knows nothing of what the line says.
 */
#ifndef ZMEM_RENDER_LINE_H
#define ZMEM_RENDER_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"
#include "render/text.h"

enum line_attr {
	ATTR_NORMAL,
	ATTR_BOLD,
	ATTR_DIM,
	ATTR_REVERSE,
	ATTR_RED,
	ATTR_GREEN,
	ATTR_YELLOW,
	ATTR_BLUE,
	ATTR_CYAN,
	ATTR_COUNT,
};

/* What switches an attribute on; "\033[0m" switches it off. */
extern const char *const line_sgr[ATTR_COUNT];

struct line {
	struct strbuf *out;
	unsigned width; /* cut to so many columns, 0: never */
	bool color;
	enum line_attr attr; /* of what is written next */

	/* Private. */
	enum line_attr shown;
	unsigned column;
	unsigned blanks;   /* owed: written before the next character, if one comes */
	bool cut;	   /* the rest is dropped */
	struct glyph held; /* ends in the last column: whether it may, the next one decides */
	enum line_attr held_attr;
};

/* Blanks, which vanish if nothing follows. */
static inline void line_blanks(struct line *l, unsigned count)
{
	l->blanks += count;
}

/* Printable ASCII, as it is. */
void line_ascii(struct line *l, const char *s, size_t len);
/* Text of any bytes, made safe; cut to `limit` columns with an ellipsis. 0: no limit. */
void line_text(struct line *l, const char *s, unsigned limit);
/* The first `len` bytes of a text, made safe, and an ellipsis if the rest was cut. */
void line_text_part(struct line *l, const char *s, size_t len, bool cut);
/* Formatted text of at most 255 bytes, made safe. */
__attribute__((format(printf, 2, 3))) void line_printf(struct line *l, const char *fmt, ...);
/* Ends the line and is ready for the next one. */
void line_end(struct line *l);

#endif
