// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Moves a cursor and its window by keys, and holds on to a row while rows come and go. */
#include "top/cursor.h"

#include "top/screen.h"

bool row_id_same(struct row_id a, struct row_id b)
{
	return a.owner == b.owner && a.key == b.key;
}

void cursor_place(struct cursor *c, size_t count, size_t page)
{
	c->count = count;
	c->page = page;
	if (c->at >= count)
		c->at = count ? count - 1 : 0;
	if (!c->scrolls && (c->show || c->follow)) {
		if (c->at < c->first)
			c->first = c->at;
		if (c->at >= c->first + page)
			c->first = c->at - page + 1;
	}
	c->show = false;
	if (c->first + page > count)
		c->first = count > page ? count - page : 0;
}

void cursor_select(struct cursor *c, size_t row)
{
	c->at = row;
	c->show = true;
}

void cursor_reset(struct cursor *c)
{
	c->at = c->first = 0;
	c->held = false;
}

/* Moves within the rows: a cursor, or a window. */
static void move(struct cursor *c, bool back, size_t by)
{
	size_t last = c->count ? c->count - 1 : 0, *at = c->scrolls ? &c->first : &c->at;

	if (c->scrolls)
		last = c->count > c->page ? c->count - c->page : 0;
	if (back)
		*at = *at > by ? *at - by : 0;
	else
		*at = last - *at > by ? *at + by : last;
	c->show = true;
}

bool cursor_key(struct cursor *c, int key)
{
	size_t page = c->page ? c->page : 1;

	switch (key) {
	case TOP_UP:
	case 'k':
		move(c, true, 1);
		return true;
	case TOP_DOWN:
	case 'j':
		move(c, false, 1);
		return true;
	case TOP_PAGE_UP:
	case TOP_CTRL('b'):
		move(c, true, page);
		return true;
	case TOP_PAGE_DOWN:
	case TOP_CTRL('f'):
		move(c, false, page);
		return true;
	case TOP_HOME:
		move(c, true, c->count);
		return true;
	case TOP_END:
	case 'G':
		move(c, false, c->count);
		return true;
	}
	return false;
}

bool cursor_restore(struct cursor *c, size_t count,
		    struct row_id (*id_of)(const void *rows, size_t i), const void *rows)
{
	for (size_t i = 0; c->held && i < count; i++) {
		if (!row_id_same(id_of(rows, i), c->id))
			continue;
		c->at = i;
		return true;
	}
	if (c->at >= count)
		c->at = count ? count - 1 : 0;
	return !c->held;
}
