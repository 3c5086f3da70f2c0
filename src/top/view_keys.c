// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Handles keys in the list of rows. Keys that top and htop have do the same here. */
#include <string.h>

#include "base/array.h"
#include "top/view.h"

static unsigned sort_by(struct view *v, const struct column *c)
{
	v->set.order.keys = (struct column_list){.item = {c}, .count = 1};
	v->moved = true;
	return VIEW_ASK_ROWS;
}

static unsigned sort_key(struct view *v, const char *key)
{
	return sort_by(v, column_find(key, strlen(key)));
}

/* Sorts by the visible column to the left or right of the sort column. */
static unsigned sort_beside(struct view *v, int by)
{
	const struct column_list *list = &v->fitting;
	size_t at = 0;

	if (!list->count)
		return 0;
	while (at < list->count && list->item[at] != v->set.order.keys.item[0])
		at++;
	if (at == list->count)
		at = by < 0 ? list->count - 1 : 0;
	else
		at = (at + list->count + (size_t)(by < 0 ? -1 : 1)) % list->count;
	return sort_by(v, list->item[at]);
}

static unsigned group_next(struct view *v)
{
	static const char *const key[] = {"name", "user", "unit", "container", "cgroup"};
	size_t at = 0;

	while (v->set.group && at < ARRAY_SIZE(key) && strcmp(key[at], v->set.group->key) != 0)
		at++;
	at += v->set.group != NULL;
	v->set.group = at < ARRAY_SIZE(key) ? column_find(key[at], strlen(key[at])) : NULL;
	v->set.tree = false;
	v->left = 0;
	if (v->set.group) {
		column_list_default(&v->set.columns[1], v->set.group);
		v->set.chosen[1] = false;
	}
	view_columns_changed(v);
	return VIEW_ASK_ROWS;
}

static unsigned tree_switch(struct view *v)
{
	v->set.tree = !v->set.tree;
	v->set.group = NULL;
	view_columns_changed(v);
	return VIEW_ASK_ROWS;
}

static unsigned changes_next(struct view *v)
{
	v->set.changes = v->set.changes == CHANGES_START ? CHANGES_NONE : v->set.changes + 1;
	if (!v->set.changes)
		v->set.only_changed = false;
	view_columns_changed(v);
	return VIEW_ASK_CHANGES | VIEW_ASK_ROWS;
}

static unsigned interval_step(struct view *v, bool longer)
{
	static const unsigned steps[] = {100,  200,   500,   1000,  2000,  3000,
					 5000, 10000, 30000, 60000, 300000};
	unsigned now = v->set.interval_ms, next = now;

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		if (longer && steps[i] > now) {
			next = steps[i];
			break;
		}
		if (!longer && steps[i] < now)
			next = steps[i];
	}
	v->set.interval_ms = next;
	return next == now ? 0 : VIEW_ASK_INTERVAL;
}

static unsigned follow_switch(struct view *v)
{
	const struct process *p = view_row(v);

	if (!p)
		return 0;
	v->follow = !v->follow;
	v->moved = true;
	view_hold_row(v);
	return 0;
}

static unsigned scroll_columns(struct view *v, int by)
{
	if (by < 0 ? v->left : v->fitting.count > 1)
		v->left += (size_t)by;
	view_columns_changed(v);
	return 0;
}

/* Escape ends following, else clears filters, else returns to the first row. */
static unsigned escape(struct view *v)
{
	if (v->follow) {
		v->follow = false;
	} else if (*v->set.filter || *v->set.user) {
		*v->set.filter = *v->set.user = '\0';
		return VIEW_ASK_FILTER;
	} else {
		v->held = false;
		v->cursor = v->scroll = 0;
	}
	return 0;
}

static unsigned key_move(struct view *v, int key, bool *ret_known)
{
	long page = (long)view_page(v);

	*ret_known = true;
	switch (key) {
	case TOP_UP:
	case 'k':
		view_move(v, -1);
		return 0;
	case TOP_DOWN:
	case 'j':
		view_move(v, 1);
		return 0;
	case TOP_PAGE_UP:
	case TOP_CTRL('b'):
		view_move(v, -page);
		return 0;
	case TOP_PAGE_DOWN:
	case TOP_CTRL('f'):
		view_move(v, page);
		return 0;
	case TOP_HOME:
		view_move(v, -(long)v->count);
		return 0;
	case TOP_END:
	case 'G':
		view_move(v, (long)v->count);
		return 0;
	case TOP_LEFT:
		return scroll_columns(v, -1);
	case TOP_RIGHT:
		return scroll_columns(v, 1);
	case TOP_ESCAPE:
		return escape(v);
	}
	*ret_known = false;
	return 0;
}

static unsigned key_order(struct view *v, int key, bool *ret_known)
{
	*ret_known = true;
	switch (key) {
	case 's':
	case TOP_F(6):
		view_menu_open(v, VIEW_SORT);
		return 0;
	case '<':
		return sort_beside(v, -1);
	case '>':
		return sort_beside(v, 1);
	case 'M':
	case 'P':
		return sort_key(v, "pss");
	case 'S':
		return sort_key(v, "swap");
	case 'N':
		return sort_key(v, "pid");
	case 'r':
	case 'I':
		v->set.order.reverse = !v->set.order.reverse;
		return VIEW_ASK_ROWS;
	case 'g':
		return group_next(v);
	case 't':
	case TOP_F(5):
		return tree_switch(v);
	case 'x':
		return changes_next(v);
	case 'n':
		v->set.only_changed = !v->set.only_changed;
		if (v->set.only_changed && !v->set.changes)
			return changes_next(v);
		return VIEW_ASK_ROWS;
	}
	*ret_known = false;
	return 0;
}

static unsigned key_display(struct view *v, int key, bool *ret_known)
{
	*ret_known = true;
	switch (key) {
	case 'c':
		v->set.cmdline = !v->set.cmdline;
		view_columns_changed(v);
		return VIEW_ASK_ROWS;
	case 'o':
	case TOP_F(2):
		view_menu_open(v, VIEW_COLUMNS);
		return 0;
	case 'b':
		v->style.bytes = !v->style.bytes;
		view_columns_changed(v);
		return 0;
	case 'F':
		return follow_switch(v);
	case '+':
	case '=':
		return interval_step(v, true);
	case '-':
		return interval_step(v, false);
	case ' ':
	case 'p':
	case 'Z':
		v->set.paused = !v->set.paused;
		return VIEW_ASK_INTERVAL;
	case '.':
		return v->facts.frames ? VIEW_ASK_FORWARD : 0;
	case ',':
		return v->facts.frames ? VIEW_ASK_BACK : 0;
	case TOP_CTRL('l'):
		return VIEW_ASK_REDRAW;
	}
	*ret_known = false;
	return 0;
}

static unsigned key_open(struct view *v, int key)
{
	switch (key) {
	case '/':
	case TOP_F(3):
		view_prompt_open(v, PROMPT_SEARCH);
		return 0;
	case 'f':
	case '\\':
	case TOP_F(4):
		view_prompt_open(v, PROMPT_FILTER);
		return 0;
	case 'u':
		view_prompt_open(v, PROMPT_USER);
		return 0;
	case 'd':
		view_prompt_open(v, PROMPT_INTERVAL);
		return 0;
	case TOP_ENTER:
		if (!view_row(v))
			return 0;
		view_detail_open(v);
		return VIEW_ASK_DETAIL;
	case '?':
	case 'h':
	case TOP_F1:
		view_menu_open(v, VIEW_HELP);
		return 0;
	case 'q':
	case 'Q':
	case TOP_F(10):
		return VIEW_ASK_QUIT;
	}
	return 0;
}

static unsigned list_key(struct view *v, int key)
{
	bool known = false;
	unsigned ask = key_move(v, key, &known);

	if (!known)
		ask = key_order(v, key, &known);
	if (!known)
		ask = key_display(v, key, &known);
	return known ? ask : key_open(v, key);
}

static unsigned mode_key(struct view *v, int key)
{
	if (v->prompt)
		return view_prompt_key(v, key);
	switch (v->mode) {
	case VIEW_LIST:
		return list_key(v, key);
	case VIEW_DETAIL:
		return view_detail_key(v, key);
	case VIEW_HELP:
	case VIEW_COLUMNS:
	case VIEW_SORT:
		return view_menu_key(v, key);
	}
	return 0;
}

unsigned view_key(struct view *v, int key)
{
	size_t first, count;
	unsigned ask;

	*v->message = '\0';
	ask = mode_key(v, key);
	/* Place after each key, so that several keys at once act as they would one by one. */
	view_place(v, &first, &count);
	return ask;
}
