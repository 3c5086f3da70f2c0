/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes sentences (fields/sentence.h) of a row. */
#ifndef ZMEM_WRITE_SAY_H
#define ZMEM_WRITE_SAY_H

#include "fields/sentence.h"
#include "write/line.h"
#include "write/style.h"

/* How sizes are said; `bytes` of a style is one of the first two. */
enum said_sizes {
	SIZES_ROUNDED,
	SIZES_EXACT, /* bytes */
	SIZES_SHORT, /* "7.00G" */
	SIZES_KB,    /* of changes: "-53,264 kB", as in /proc/PID/status */
};

/* The row of which something is said; `of` as for field_value(). */
struct said {
	const struct sentences *sentences;
	const void *row, *of;
	enum said_sizes sizes;
};

/* Writes a sentence into a line, which it does not end. Returns false if it cannot be said. */
bool say_sentence(struct line *l, const struct said *s, const char *text);
/* Likewise the first sentence of the table. */
bool say_first(struct line *l, const struct said *s);
/* Each sentence that can be said in a line of its own, cut to the width of the line. */
void say_lines(struct line *l, const struct said *s);
/* The same, folded below `indent` columns. */
void say_all(struct strbuf *out, const struct said *s, unsigned indent, unsigned width);
/* What is wrong with the text of a sentence, for a test: NULL, or a word with the key. */
const char *say_fault(const struct sentences *s, const char *text);

#endif
