// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Lines that are put one below the other; refuses to know what is in them. */
#include "top/screen.h"

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
}

void screen_line(struct screen *s, enum screen_look look)
{
	size_t before = s->text.len;

	line_end(&s->pen);
	if (s->count >= s->height) {
		/* What the pen has written of it is dropped with the rest. */
		while (before && s->text.data && s->text.data[before - 1] != '\n')
			before--;
		s->text.len = before;
		return;
	}
	s->look[s->count++] = look;
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
