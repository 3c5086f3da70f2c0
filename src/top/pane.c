// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What several panes do alike: search, draw a table or lines of text, open menus and prompts. */
#include "top/pane.h"

#include <stdio.h>
#include <string.h>

#include "base/count.h"

unsigned pane_act(struct pane *p, const struct key_use *use)
{
	if (use->replays && !p->shared->facts.frames)
		return PANE_REFUSE;
	if (use->act)
		return use->act(p);
	if (use->prompt) {
		prompt_open(&p->shared->prompt, use->prompt, p);
		p->cursor.show = true;
		return 0;
	}
	p->shared->menu = use->menu;
	return use->menu ? PANE_OPEN(PANE_MENU) : use->ask;
}

/* ---- search ---- */

/* Moves the cursor to the next matching row from `from` on, wrapping around. */
static unsigned search(struct pane *p, const char *text, size_t from)
{
	size_t count = p->cursor.count;

	for (size_t k = 0; *text && k < count; k++) {
		if (!p->class->matches(p, (from + k) % count, text))
			continue;
		cursor_select(&p->cursor, (from + k) % count);
		p->class->moved(p);
		return 0;
	}
	return *text ? show_message(p->shared, "%s: not found", text) : 0;
}

static unsigned search_typed(struct pane *p, const char *text)
{
	return search(p, text, p->cursor.at);
}

static unsigned search_next(struct pane *p, const char *text)
{
	return search(p, text, p->cursor.at + 1);
}

/* Nothing typed: repeats the last search from the next row on. */
static unsigned search_done(struct pane *p, const char *text)
{
	if (!*text)
		return search_next(p, p->shared->search);
	snprintf(p->shared->search, sizeof(p->shared->search), "%s", text);
	return search_typed(p, text);
}

const struct prompt_kind search_prompt = {
	.label = "search: ", .typed = search_typed, .next = search_next, .done = search_done};

/* ---- drawing ---- */

void pane_say(struct screen *s, const struct said *said, enum screen_look look)
{
	for (const char *const *text = said->sentences->text; *text; text++) {
		if (say_sentence(&s->pen, said, *text))
			screen_line(s, look);
	}
}

struct table_style pane_style(const struct pane *p, const struct screen *s)
{
	return (struct table_style){
		.bytes = p->shared->style.bytes, .header = true, .color = true, .width = s->width};
}

void pane_table(struct pane *p, const struct grid *g, struct screen *s)
{
	const struct cursor *c = &p->cursor;
	size_t shown = cursor_shown(c);
	unsigned end, height = p->shared->height;

	if (height >= 3) {
		s->pen.attr = ATTR_BOLD;
		grid_put_heading(g, &s->pen);
		screen_line(s, LOOK_HEADER);
	}
	end = s->count + (unsigned)c->page;
	for (size_t i = 0; i < shown; i++) {
		grid_put_row(g, &s->pen, i);
		screen_line(s, c->first + i == c->at ? LOOK_SELECTED : LOOK_PLAIN);
	}
	screen_fill(s, end);
	if (height < 4)
		return;
	s->pen.attr = ATTR_BOLD;
	grid_put_sums(g, &s->pen, GRID_TOTAL);
	if (!c->count)
		line_printf(&s->pen, "no rows");
	else if (shown < c->count)
		line_printf(&s->pen, "rows %zu to %zu of %zu", c->first + 1, c->first + shown,
			    c->count);
	else
		line_printf(&s->pen, "%zu %s", shown, count_word(shown, "row", "rows"));
	screen_line(s, LOOK_PLAIN);
}

/* Adds a line of the text. Returns the next one. */
static const char *put_text_line(struct screen *s, const char *text, enum screen_look look)
{
	size_t len = strcspn(text, "\n");

	screen_add_text(s, text, len, look);
	return text + len + (text[len] == '\n');
}

void pane_text(struct cursor *c, const char *text, bool heading, struct screen *s)
{
	size_t lines = 0;

	if (heading && *text && s->count + 1 < s->height)
		text = put_text_line(s, text, LOOK_HEADER);
	for (const char *at = text; c && *at; at++)
		lines += *at == '\n';
	if (c)
		cursor_place(c, lines, s->height > s->count + 1 ? s->height - s->count - 1 : 0);
	for (size_t i = 0; c && i < c->first; i++)
		text += strcspn(text, "\n") + 1;
	while (*text && s->count + 1 < s->height)
		text = put_text_line(s, text, LOOK_PLAIN);
}
