// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A menu of the pane below it. */
#include "top/panes.h"

static const struct menu *menu_of(const struct pane *p)
{
	return ((const struct menu_pane *)p)->menu;
}

static void menu_place(struct pane *p)
{
	unsigned height = p->shared->height;

	cursor_place(&p->cursor, menu_of(p)->count(p->below), height > 2 ? height - 2 : 1);
}

static unsigned menu_open(struct pane *p)
{
	const struct menu *menu = p->shared->menu;

	((struct menu_pane *)p)->menu = menu;
	cursor_reset(&p->cursor);
	cursor_select(&p->cursor, menu->begin ? menu->begin(p->below) : 0);
	return 0;
}

static unsigned choose(struct pane *p)
{
	return menu_of(p)->choose(p->below, p->cursor.at);
}

static unsigned space(struct pane *p)
{
	if (menu_of(p)->shift)
		return choose(p);
	cursor_key(&p->cursor, TOP_PAGE_DOWN);
	return 0;
}

static unsigned shift(struct pane *p)
{
	const struct menu *menu = menu_of(p);

	return menu->shift ? menu->shift(p->below, p->cursor.at, p->shared->key == '+' ? 1 : -1)
			   : PANE_REFUSE;
}

static const struct key_use keys[] = {
	{{TOP_ENTER}, choose, 0, NULL, NULL},
	{{' '}, space, 0, NULL, NULL},
	{{'+', '-'}, shift, 0, "moves a column", NULL},
	{{0}, NULL, 0, NULL, NULL},
};

static const char *const *menu_draw(struct pane *p, struct screen *s)
{
	const struct menu *menu = menu_of(p);
	const struct cursor *c = &p->cursor;

	menu_place(p);
	line_printf(&s->pen, "%s", menu->title);
	screen_line(s, LOOK_HEADER);
	for (size_t i = c->first; i < c->first + c->page && i < c->count; i++) {
		menu->line(p->below, i, &s->pen);
		screen_line(s, i == c->at ? LOOK_SELECTED : LOOK_PLAIN);
	}
	return menu->hints;
}

const struct pane_class menu_class = {
	.keys = keys,
	.where = "in the list of columns (o shows it)",
	.modal = true,
	.open = menu_open,
	.place = menu_place,
	.draw = menu_draw,
};
