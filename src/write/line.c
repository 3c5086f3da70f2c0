// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Writes one line to a strbuf. Only the character that would fill the last column is held back
 * until it is known whether the line ends with it or is cut there.
 */
#include "write/line.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *const line_sgr[ATTR_COUNT] = {
	[ATTR_NORMAL] = "",	    [ATTR_BOLD] = "\033[1m",  [ATTR_DIM] = "\033[2m",
	[ATTR_REVERSE] = "\033[7m", [ATTR_RED] = "\033[31m",  [ATTR_GREEN] = "\033[32m",
	[ATTR_YELLOW] = "\033[33m", [ATTR_BLUE] = "\033[34m", [ATTR_CYAN] = "\033[36m",
};

static void emit_attr(struct line *l, enum line_attr attr)
{
	if (!l->color || l->shown == attr)
		return;
	if (l->shown != ATTR_NORMAL)
		strbuf_puts(l->out, "\033[0m");
	strbuf_puts(l->out, line_sgr[attr]);
	l->shown = attr;
}

static void emit_blanks(struct line *l, unsigned count)
{
	enum { FEW = 16 };

	/* Nearly always few: one fixed-size store; the surplus is overwritten later. */
	if (count <= FEW && strbuf_room(l->out, FEW)) {
		memset(l->out->data + l->out->len, ' ', FEW);
		l->out->len += count;
	} else {
		strbuf_fill(l->out, ' ', count);
	}
	l->column += count;
	l->blanks = 0;
}

static void emit(struct line *l, const char *s, size_t len, unsigned width, enum line_attr attr)
{
	if (l->blanks && l->shown == ATTR_REVERSE && attr != ATTR_REVERSE)
		emit_attr(l, ATTR_NORMAL);
	if (l->blanks)
		emit_blanks(l, l->blanks);
	emit_attr(l, attr);
	strbuf_put(l->out, s, len);
	l->column += width;
}

/* Replaces the rest of the line, which does not fit, with an ellipsis. */
static void cut_line(struct line *l)
{
	unsigned room = l->width - 1 - l->column;

	if (l->held.len)
		l->blanks = 0;
	else if (l->blanks > room)
		l->blanks = room;
	l->held.len = 0;
	emit(l, TEXT_ELLIPSIS, 3, 1, l->attr);
	l->cut = true;
}

static void emit_held(struct line *l)
{
	unsigned blanks = l->blanks;

	if (!l->held.len)
		return;
	l->blanks = 0;
	emit(l, l->held.bytes, l->held.len, l->held.width, l->held_attr);
	l->held.len = 0;
	l->blanks = blanks;
}

/* A character of width 0 joins the character before it. */
static void line_attached(struct line *l, const struct glyph *g)
{
	if (!l->held.len) {
		emit(l, g->bytes, g->len, 0, l->attr);
	} else if (l->held.len + g->len <= sizeof(l->held.bytes)) {
		memcpy(l->held.bytes + l->held.len, g->bytes, g->len);
		l->held.len += g->len;
	}
}

/* True if the character is beyond the last column, or forces the held one out. */
static bool too_far(const struct line *l, const struct glyph *g)
{
	if (!l->width)
		return false;
	if (l->held.len)
		return g->width || l->blanks;
	/* A character of width 0 needs one before it that is not in the last column. */
	return (size_t)l->column + l->blanks + g->width > l->width - !g->width;
}

static void line_glyph(struct line *l, const struct glyph *g)
{
	if (l->cut)
		return;
	if (too_far(l, g)) {
		cut_line(l);
	} else if (!g->width) {
		line_attached(l, g);
	} else if (l->width && l->column + l->blanks + g->width == l->width) {
		emit_blanks(l, l->blanks);
		l->held = *g;
		l->held_attr = l->attr;
	} else {
		emit(l, g->bytes, g->len, g->width, l->attr);
	}
}

void line_ascii(struct line *l, const char *s, size_t len)
{
	if (!len || l->cut)
		return;
	if (!l->width || (!l->held.len && (size_t)l->column + l->blanks + len < l->width)) {
		emit(l, s, len, (unsigned)len, l->attr);
		return;
	}
	for (size_t i = 0; i < len && !l->cut; i++) {
		struct glyph g = {.bytes = {s[i]}, .len = 1, .width = 1};

		line_glyph(l, &g);
	}
}

void line_text_part(struct line *l, const char *s, size_t len, bool cut)
{
	for (size_t i = 0; i < len && !l->cut;) {
		size_t n = text_plain(s + i, len - i);
		struct glyph g;

		line_ascii(l, s + i, n);
		i += n;
		if (i < len) {
			i += text_glyph(s + i, len - i, &g);
			line_glyph(l, &g);
		}
	}
	if (cut)
		line_glyph(l, &(struct glyph){.bytes = TEXT_ELLIPSIS, .len = 3, .width = 1});
}

/* The number of leading bytes of the text without which the rest fits `room` columns. */
static size_t skip_head(const char *s, size_t len, unsigned width, unsigned room)
{
	size_t i = 0;

	while (i < len && width > room) {
		struct glyph g;

		i += text_glyph(s + i, len - i, &g);
		width -= g.width;
	}
	return i;
}

/* The bytes before the last name of a path, its slash not among them; 0: it is no path. */
static size_t directory_of(const char *s, size_t len)
{
	/* A slash at the end is a part of the name. */
	while (len && s[len - 1] == '/')
		len--;
	while (len && s[len - 1] != '/')
		len--;
	return len ? len - 1 : 0;
}

/* Adds both ends of a text that is too wide; of a path the whole name, if it fits. */
static unsigned put_ends(struct line *l, const char *s, size_t len, unsigned limit)
{
	size_t name = directory_of(s, len), head, tail;
	unsigned room = limit / 2, width, name_width;

	text_fit(s, len, UINT_MAX, &width);
	text_fit(s + name, len - name, UINT_MAX, &name_width);
	if (name && name_width < limit)
		room = limit - name_width - 1;
	/* text_fit() keeps a column for the ellipsis. */
	head = text_fit(s, len, room + 1, &width);
	line_text_part(l, s, head, true);
	if (width >= limit)
		return width;
	room = limit - width;
	if (name && name_width <= room) {
		tail = name;
	} else {
		text_fit(s, len, UINT_MAX, &name_width);
		tail = skip_head(s, len, name_width, room);
	}
	text_fit(s + tail, len - tail, UINT_MAX, &name_width);
	line_text_part(l, s + tail, len - tail, false);
	return width + name_width;
}

unsigned line_text_middle(struct line *l, const char *s, unsigned limit)
{
	size_t len = strlen(s), name;
	unsigned width;

	text_fit(s, len, UINT_MAX, &width);
	if (width <= limit) {
		line_text_part(l, s, len, false);
		return width;
	}
	name = directory_of(s, len);
	text_fit(s + name, len - name, UINT_MAX, &width);
	/* If the name does not fit, no directory is shown. */
	if (name && width >= limit)
		return line_text_middle(l, s + name + 1, limit);
	return put_ends(l, s, len, limit);
}

void line_text(struct line *l, const char *s, unsigned limit)
{
	size_t len = strlen(s), shown = len;
	unsigned width;

	if (limit)
		shown = text_fit(s, len, limit, &width);
	line_text_part(l, s, shown, shown < len);
}

void line_printf(struct line *l, const char *fmt, ...)
{
	char text[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	line_text(l, text, 0);
}

void line_pad(struct line *l, unsigned column)
{
	emit_held(l);
	emit_attr(l, ATTR_NORMAL);
	l->blanks = 0;
	l->cut = false;
	if (l->column < column)
		emit_blanks(l, column - l->column);
}

void line_end(struct line *l)
{
	emit_held(l);
	emit_attr(l, ATTR_NORMAL);
	strbuf_putc(l->out, '\n');
	l->attr = ATTR_NORMAL;
	l->column = 0;
	l->blanks = 0;
	l->cut = false;
}

/* ---- bars ---- */

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
