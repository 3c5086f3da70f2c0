/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the view and the terminal exchange. The screen's content is text: lines of UTF-8 with the
 * attributes of write/line.h. Keys are numbers. Independent of the terminal.
 */
#ifndef ZMEM_TOP_SCREEN_H
#define ZMEM_TOP_SCREEN_H

#include "write/line.h"

/* The look of a whole line, up to the right edge. */
enum screen_look {
	LOOK_PLAIN,
	LOOK_HEADER,   /* headings of a table */
	LOOK_SELECTED, /* the row that the cursor is on */
	LOOK_KEYS,     /* key hints, and text that is being typed */
	LOOK_MESSAGE,
};

#define SCREEN_LINES_MAX 1000 /* further lines of a terminal stay empty */

struct screen {
	unsigned width, height; /* at least 1 */
	struct strbuf text;	/* lines that end with a newline */
	unsigned count;
	enum screen_look look[SCREEN_LINES_MAX];
	int cursor; /* the cursor's column in the last line; -1: no cursor */
	struct line pen;
	struct {
		unsigned column;   /* of the rule before the other text; 0: there is none */
		unsigned from, to; /* the lines that have it. Their look ends before it. */
		const char *text;  /* the rest of it */
	} beside;
};

/* Empties the screen and keeps its memory. */
void screen_begin(struct screen *s, unsigned width, unsigned height);
/* Ends the line that the pen has written. Lines that do not fit are dropped. */
void screen_line(struct screen *s, enum screen_look look);
/* Adds a line of `len` bytes, without newline, that was rendered elsewhere. */
void screen_add_text(struct screen *s, const char *text, size_t len, enum screen_look look);
#define SCREEN_RULE 2 /* columns */

/* Puts the lines of a text beside the next ones, behind a rule at `column`. It is borrowed. */
void screen_put_beside(struct screen *s, const char *text, unsigned column);
/* Ends it before its last line: some had no room. */
void screen_end_beside(struct screen *s);
/* Adds empty lines up to `lines`. */
void screen_fill(struct screen *s, unsigned lines);
/* Removes the last line. */
void screen_remove_line(struct screen *s);
void screen_done(struct screen *s);

/* Codes of keys: a character is its own code, other keys follow the last code of Unicode. */
enum top_key {
	TOP_ENTER = '\n',
	TOP_ESCAPE = 27,
	TOP_BACKSPACE = 127,
	TOP_UP = 0x110000,
	TOP_DOWN,
	TOP_LEFT,
	TOP_RIGHT,
	TOP_PAGE_UP,
	TOP_PAGE_DOWN,
	TOP_HOME,
	TOP_END,
	TOP_DELETE,
	TOP_F1, /* F1 to F12 */
	TOP_F12 = TOP_F1 + 11,
	TOP_OTHER, /* a key without a meaning here */
};

#define TOP_F(n)    (TOP_F1 + (n)-1)
#define TOP_CTRL(c) ((c)&0x1f)

#endif
