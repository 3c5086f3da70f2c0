/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes one line on a terminal: counts columns, cuts what does not fit, removes trailing blanks
 * and switches attributes only around text.
 */
#ifndef ZMEM_WRITE_LINE_H
#define ZMEM_WRITE_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"
#include "write/text.h"

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

/* The sequence that switches an attribute on; "\033[0m" switches all off. */
extern const char *const line_sgr[ATTR_COUNT];

struct line {
	struct strbuf *out;
	unsigned width; /* maximum width in columns, 0: not limited */
	bool color;
	enum line_attr attr; /* of the text that is written next */

	/* Private. */
	enum line_attr shown;
	unsigned column;
	unsigned blanks;   /* pending: written before the next character */
	bool cut;	   /* the rest is dropped */
	struct glyph held; /* would fill the last column; the next character decides */
	enum line_attr held_attr;
};

/* Adds blanks; trailing blanks are not written. */
static inline void line_blanks(struct line *l, unsigned count)
{
	l->blanks += count;
}

/* Adds printable ASCII without checks. */
void line_ascii(struct line *l, const char *s, size_t len);
/* Adds text of any bytes, made safe, cut to `limit` columns with an ellipsis. 0: no limit. */
void line_text(struct line *l, const char *s, unsigned limit);
/*
 * Adds text of any bytes, made safe. What does not fit `limit` columns (1 or more) is cut out of
 * the middle. The last name of a path tells most: the directories are cut, and the name alone only
 * if it does not fit. Returns the columns that it takes.
 */
unsigned line_text_middle(struct line *l, const char *s, unsigned limit);
/* Adds the first `len` bytes of a text, made safe, and an ellipsis if `cut`. */
void line_text_part(struct line *l, const char *s, size_t len, bool cut);
/* Adds formatted text of at most 255 bytes, made safe. */
__attribute__((format(printf, 2, 3))) void line_printf(struct line *l, const char *fmt, ...);
/* Ends the text of the first `column` columns, which were the width, and goes there. */
void line_pad(struct line *l, unsigned column);
/* Ends the line and begins the next one. */
void line_end(struct line *l);

/* ---- bars of characters: how a whole is split ---- */

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
