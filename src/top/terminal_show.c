// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Converts a screen to cells of ncurses, which writes the cells that changed. A terminal without
 * UTF-8 gets similar ASCII characters.
 */
#include <curses.h>
#include <string.h>
#include <wchar.h>

#include "base/utf8.h"
#include "top/terminal.h"

#define WIDTH_MAX 1000 /* further columns of a terminal stay empty */

struct cells {
	cchar_t cell[WIDTH_MAX];
	int used;   /* cells */
	int column; /* columns; a wide character takes two */
	attr_t attr;
	short pair;
};

static void set_attr(const struct terminal *t, struct cells *c, enum line_attr a)
{
	c->attr = A_NORMAL;
	c->pair = 0;
	switch (a) {
	case ATTR_BOLD:
		c->attr = A_BOLD;
		break;
	case ATTR_DIM:
		c->attr = A_DIM;
		break;
	case ATTR_REVERSE:
		c->attr = A_REVERSE;
		break;
	case ATTR_NORMAL:
	case ATTR_COUNT:
		break;
	default:
		if (!t->colors && a == ATTR_YELLOW)
			c->attr = A_BOLD;
		if (t->colors)
			c->pair = (short)(a - ATTR_RED + 1);
	}
}

/* Applies a sequence of line_sgr, or a reset. Returns its length. */
static size_t apply_sgr(const struct terminal *t, struct cells *c, const char *s)
{
	for (int a = ATTR_NORMAL + 1; a < ATTR_COUNT; a++) {
		size_t len = strlen(line_sgr[a]);

		if (strncmp(s, line_sgr[a], len) == 0) {
			set_attr(t, c, a);
			return len;
		}
	}
	set_attr(t, c, ATTR_NORMAL);
	return strcspn(s, "m") + 1;
}

static void append_cell(struct cells *c, wchar_t ch, int width, int limit)
{
	const wchar_t text[2] = {ch};

	if (c->column + width > limit || c->used >= WIDTH_MAX)
		return;
	setcchar(&c->cell[c->used++], text, c->attr, c->pair, NULL);
	c->column += width;
}

/* Adds a combining character to the cell before it, if there is room. */
static void append_combining(struct cells *c, wchar_t ch)
{
	wchar_t text[CCHARW_MAX + 2];
	attr_t attr;
	short pair;
	size_t len;

	if (!c->used || getcchar(&c->cell[c->used - 1], text, &attr, &pair, NULL) == ERR)
		return;
	len = wcslen(text);
	if (len + 1 >= CCHARW_MAX)
		return;
	text[len] = ch;
	text[len + 1] = L'\0';
	setcchar(&c->cell[c->used - 1], text, attr, pair, NULL);
}

static char in_ascii(uint32_t ch)
{
	static const char bar[] = "_.-:=+*#";

	if (ch >= 0x2581 && ch <= 0x2588)
		return bar[ch - 0x2581];
	switch (ch) {
	case 0x2026: /* … */
		return '~';
	case 0x2502: /* │ */
	case 0x251c: /* ├ */
		return '|';
	case 0x2514: /* └ */
		return '`';
	case 0x2500: /* ─ */
		return '-';
	}
	return '?';
}

static void append_char(const struct terminal *t, struct cells *c, uint32_t ch, int limit)
{
	unsigned width = utf8_width(ch);

	if (ch < 0x80) {
		append_cell(c, (wchar_t)ch, 1, limit);
	} else if (!t->utf8) {
		for (unsigned i = 0; i < width; i++)
			append_cell(c, (wchar_t)in_ascii(ch), 1, limit);
	} else if (wcwidth((wchar_t)ch) != (int)width) {
		/* ncurses, like the C library, would count other columns. */
		for (unsigned i = 0; i < width; i++)
			append_cell(c, L'?', 1, limit);
	} else if (!width) {
		append_combining(c, (wchar_t)ch);
	} else {
		append_cell(c, (wchar_t)ch, (int)width, limit);
	}
}

/*
 * Makes the cells of a line up to the right edge. Its look ends at `end`. Returns its length with
 * the newline.
 */
static size_t fill_line(const struct terminal *t, struct cells *c, const char *s, size_t len,
			enum screen_look look, int end, int width)
{
	attr_t line = look == LOOK_SELECTED || look == LOOK_MESSAGE ? A_REVERSE : A_NORMAL;
	size_t i = 0;

	c->used = c->column = 0;
	set_attr(t, c, ATTR_NORMAL);
	while (i < len && s[i] != '\n') {
		uint32_t ch;
		size_t n;

		if (s[i] == '\033') {
			i += apply_sgr(t, c, s + i);
			continue;
		}
		n = utf8_decode(s + i, len - i, &ch);
		/* The selected row has one look throughout. */
		if (line && c->column < end)
			set_attr(t, c, ATTR_REVERSE);
		else if (line && c->column == end)
			set_attr(t, c, ATTR_NORMAL);
		append_char(t, c, n ? ch : '?', width);
		i += n ? n : 1;
	}
	set_attr(t, c, ATTR_NORMAL);
	c->attr |= c->column < end ? line : A_NORMAL;
	while (c->column < width && c->used < WIDTH_MAX)
		append_cell(c, L' ', 1, width);
	return i + 1;
}

/*
 * Writing the last cell of the screen would scroll it. Where automatic margins cannot be switched
 * off, ncurses writes that character one cell to the left and shifts it (PutCharLR()). With a
 * single column that cell is outside its lines.
 */
static bool is_unwritable(int y, int height, int width)
{
	return width == 1 && y == height - 1;
}

void terminal_show(struct terminal *t, const struct screen *s)
{
	struct cells c;
	int height = getmaxy(stdscr), width = getmaxx(stdscr);
	size_t at = 0;

	if (width > WIDTH_MAX)
		width = WIDTH_MAX;
	for (int y = 0; y < height; y++) {
		bool has_line =
			y < (int)s->count && at < s->text.len && !is_unwritable(y, height, width);
		size_t len = has_line ? s->text.len - at : 0;
		bool beside = y >= (int)s->beside.from && y < (int)s->beside.to;

		at += fill_line(t, &c, has_line ? s->text.data + at : "", len,
				has_line ? s->look[y] : LOOK_PLAIN,
				beside ? (int)s->beside.column : width, width);
		mvadd_wchnstr(y, 0, c.cell, c.used);
	}
	if (s->cursor >= 0)
		move((int)s->count - 1, s->cursor);
	curs_set(s->cursor >= 0);
	refresh();
}
