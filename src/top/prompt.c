// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Edits the line that the user types. */
#include "top/prompt.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

void prompt_open(struct prompt *q, const struct prompt_kind *kind, struct pane *p)
{
	q->kind = kind;
	snprintf(q->typed, sizeof(q->typed), "%s", kind->text ? kind->text(p) : "");
	memcpy(q->before, q->typed, sizeof(q->before));
}

static unsigned change(const struct prompt_kind *kind, struct pane *p, const char *text)
{
	memcpy(kind->text(p), text, PROMPT_MAX);
	return kind->ask;
}

static unsigned typed(const struct prompt *q, struct pane *p)
{
	if (q->kind->at_once)
		return change(q->kind, p, q->typed);
	return q->kind->typed ? q->kind->typed(p, q->typed) : 0;
}

static unsigned finish(struct prompt *q, struct pane *p)
{
	const struct prompt_kind *kind = q->kind;

	/* The caller put back the text that is in force: it says again why this one is not valid.
	 */
	if (kind->at_once && strcmp(q->typed, kind->text(p)) != 0)
		return change(kind, p, q->typed);
	q->kind = NULL;
	if (kind->done)
		return kind->done(p, q->typed);
	return kind->at_once ? 0 : change(kind, p, q->typed);
}

static unsigned cancel(struct prompt *q, struct pane *p)
{
	const struct prompt_kind *kind = q->kind;

	q->kind = NULL;
	return kind->at_once && strcmp(q->typed, q->before) != 0 ? change(kind, p, q->before) : 0;
}

static void append_char(struct prompt *q, uint32_t c)
{
	size_t len = strlen(q->typed);

	if (len + 5 > sizeof(q->typed))
		return;
	len += utf8_encode(c, q->typed + len);
	q->typed[len] = '\0';
}

static void erase_char(struct prompt *q)
{
	size_t len = strlen(q->typed);

	while (len && (q->typed[len - 1] & 0xc0) == 0x80)
		len--;
	q->typed[len ? len - 1 : 0] = '\0';
}

unsigned prompt_key(struct prompt *q, struct pane *p, int key)
{
	switch (key) {
	case TOP_ENTER:
		return finish(q, p);
	case TOP_ESCAPE:
		return cancel(q, p);
	case TOP_DOWN:
	case TOP_F(3):
		return q->kind->next ? q->kind->next(p, q->typed) : 0;
	case TOP_CTRL('u'):
		*q->typed = '\0';
		return typed(q, p);
	case TOP_BACKSPACE:
	case TOP_CTRL('h'):
	case TOP_DELETE:
		erase_char(q);
		return typed(q, p);
	}
	if (key < ' ' || key >= TOP_UP || !utf8_printable((uint32_t)key))
		return 0;
	append_char(q, (uint32_t)key);
	return typed(q, p);
}

void prompt_draw(const struct prompt *q, const char *message, struct screen *s)
{
	unsigned width = 0;

	line_printf(&s->pen, "%s", q->kind->label);
	line_text(&s->pen, q->typed, 0);
	text_fit(q->typed, strlen(q->typed), UINT32_MAX, &width);
	s->cursor = (int)(strlen(q->kind->label) + width);
	if (s->cursor >= (int)s->width)
		s->cursor = (int)s->width - 1;
	if (*message) {
		line_blanks(&s->pen, 2);
		line_text(&s->pen, message, 0);
	}
	screen_line(s, LOOK_KEYS);
}
