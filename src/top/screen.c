// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A screen as a list of lines. */
#include "top/screen.h"

#include <string.h>

void screen_begin(struct screen *s, unsigned width, unsigned height)
{
	strbuf_clear(&s->text);
	s->width = width ? width : 1;
	s->height = height ? height : 1;
	if (s->height > SCREEN_LINES_MAX)
		s->height = SCREEN_LINES_MAX;
	s->count = 0;
	s->cursor = -1;
	s->pen = (struct line){.out = &s->text, .width = s->width, .color = true};
	memset(&s->beside, 0, sizeof(s->beside));
}

void screen_put_beside(struct screen *s, const char *text, unsigned column)
{
	s->beside.column = s->pen.width = column;
	s->beside.text = text;
	s->beside.from = s->count;
	s->beside.to = s->height;
}

void screen_end_beside(struct screen *s)
{
	if (s->beside.to > s->count)
		s->beside.to = s->count;
	s->beside.text = NULL;
	s->pen.width = s->width;
}

/* Adds the next line of the other text. */
static void put_beside(struct screen *s)
{
	const char *text = s->beside.text;
	size_t len = strcspn(text, "\n");

	line_pad(&s->pen, s->beside.column);
	strbuf_puts(&s->text, "│ ");
	strbuf_put(&s->text, text, len);
	s->beside.text = text[len] ? text + len + 1 : text + len;
	if (*s->beside.text)
		return;
	s->beside.to = s->count + 1;
	s->beside.text = NULL;
	s->pen.width = s->width;
}

/* Drops the text after the last newline, skipping `skip` newlines. */
static void drop(struct screen *s, size_t skip)
{
	size_t len = s->text.len;

	while (len && (s->text.data[len - 1] != '\n' || skip--))
		len--;
	s->text.len = len;
}

void screen_line(struct screen *s, enum screen_look look)
{
	if (s->beside.text)
		put_beside(s);
	line_end(&s->pen);
	if (s->count >= s->height)
		drop(s, 1);
	else
		s->look[s->count++] = look;
}

void screen_remove_line(struct screen *s)
{
	if (!s->count)
		return;
	drop(s, 1);
	s->count--;
}

void screen_add_text(struct screen *s, const char *text, size_t len, enum screen_look look)
{
	strbuf_put(&s->text, text, len);
	screen_line(s, look);
}

void screen_fill(struct screen *s, unsigned lines)
{
	while (s->count < lines && s->count < s->height)
		screen_line(s, LOOK_PLAIN);
}

void screen_done(struct screen *s)
{
	strbuf_done(&s->text);
}
