// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A menu of the pane below it, or a text without a cursor, which is the help. */
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
	const struct menu *menu = p->shared->menu ? p->shared->menu : &help_menu;

	((struct menu_pane *)p)->menu = menu;
	p->cursor = (struct cursor){.scrolls = !menu->choose};
	cursor_select(&p->cursor, menu->begin ? menu->begin(p->below) : 0);
	p->shared->menu = NULL;
	return 0;
}

static unsigned choose(struct pane *p)
{
	const struct menu *menu = menu_of(p);

	return menu->choose ? menu->choose(p->below, p->cursor.at) : PANE_CLOSE;
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
	{{TOP_ENTER}, choose},
	{{' '}, space},
	{{'+', '-'}, shift, .does = "moves a column"},
	{{0}},
};

static const char *menu_draw(struct pane *p, struct screen *s)
{
	const struct menu *menu = menu_of(p);
	const struct cursor *c = &p->cursor;

	menu_place(p);
	line_printf(&s->pen, "%s", menu->title);
	if (menu->put_more)
		menu->put_more(p->shared, &s->pen);
	screen_line(s, LOOK_HEADER);
	for (size_t i = c->first; i < c->first + cursor_shown(c); i++) {
		menu->line(p->below, i, &s->pen);
		screen_line(s, i == c->at && !c->scrolls ? LOOK_SELECTED : LOOK_PLAIN);
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
