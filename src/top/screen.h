/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is on the screen, as text: lines of UTF-8 with the attributes of render/line.h in them.
 * Knows no terminal.
 */
#ifndef ZMEM_TOP_SCREEN_H
#define ZMEM_TOP_SCREEN_H

#include "render/line.h"

/* How a whole line looks, up to the right edge. */
enum screen_look {
	LOOK_PLAIN,
	LOOK_HEADER,   /* of a table */
	LOOK_SELECTED, /* the row that the cursor is on */
	LOOK_KEYS,     /* what keys there are, what is being typed */
	LOOK_MESSAGE,
};

#define SCREEN_LINES_MAX 1000 /* beyond, a terminal stays empty */

struct screen {
	unsigned width, height; /* at least 1 */
	struct strbuf text;	/* lines that end with a newline */
	unsigned count;
	enum screen_look look[SCREEN_LINES_MAX];
	int cursor; /* the column of the last line where the next character goes; -1: none */
	struct line pen;
};

/* An empty screen; keeps the memory. */
void screen_begin(struct screen *s, unsigned width, unsigned height);
/* Ends the line that the pen has written. Those that do not fit vanish. */
void screen_line(struct screen *s, enum screen_look look);
/* A line that was written elsewhere, of `len` bytes without newline. */
void screen_ready(struct screen *s, const char *text, size_t len, enum screen_look look);
/* Empty lines until there are so many. */
void screen_fill(struct screen *s, unsigned lines);
/* Takes the last line back. */
void screen_take_back(struct screen *s);
void screen_done(struct screen *s);

#endif
