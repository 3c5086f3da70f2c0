// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Draws the screen: the list of rows, and the last line. */
#include "base/array.h"
#include "top/view.h"

struct key_help {
	const char *key, *text;
};

static void draw_keys(const struct view *v, struct screen *s)
{
	static const struct key_help list[] = {
		{"?", "help"},	  {"q", "quit"},	{"/", "search"}, {"f", "filter"},
		{"s", "sort"},	  {"g", "groups"},	{"t", "tree"},	 {"o", "columns"},
		{"x", "changes"}, {"Enter", "details"}, {"F", "follow"}, {"Space", "pause"},
	};
	static const struct key_help detail[] = {
		{"Esc", "back"}, {"up down", "mappings"}, {"m", "read again"},
		{"b", "bytes"},	 {"Space", "pause"},
	};
	static const struct key_help columns[] = {
		{"Esc", "back"},
		{"Enter", "show or hide"},
		{"+ -", "move"},
	};
	static const struct key_help sort[] = {
		{"Esc", "back"},
		{"Enter", "sort, again: reverse"},
	};
	static const struct key_help help[] = {{"Esc", "back"}, {"up down", "more"}};
	static const struct {
		const struct key_help *item;
		size_t count;
	} of_mode[] = {
		[VIEW_LIST] = {list, ARRAY_SIZE(list)},
		[VIEW_DETAIL] = {detail, ARRAY_SIZE(detail)},
		[VIEW_HELP] = {help, ARRAY_SIZE(help)},
		[VIEW_COLUMNS] = {columns, ARRAY_SIZE(columns)},
		[VIEW_SORT] = {sort, ARRAY_SIZE(sort)},
	};
	const struct key_help *keys = of_mode[v->mode].item;

	for (size_t i = 0; i < of_mode[v->mode].count; i++) {
		line_blanks(&s->pen, i ? 2 : 0);
		s->pen.attr = ATTR_BOLD;
		line_text(&s->pen, keys[i].key, 0);
		s->pen.attr = ATTR_NORMAL;
		line_printf(&s->pen, " %s", keys[i].text);
	}
	screen_line(s, LOOK_KEYS);
}

static void draw_last(const struct view *v, struct screen *s)
{
	if (v->prompt) {
		view_prompt_draw(v, s);
	} else if (*v->message) {
		line_text(&s->pen, v->message, 0);
		screen_line(s, LOOK_MESSAGE);
	} else if (v->height >= 6) {
		draw_keys(v, s);
	}
}

static void draw_sums(struct view *v, struct screen *s, size_t first, size_t shown)
{
	s->pen.attr = ATTR_BOLD;
	grid_put_sums(&v->table.grid, &s->pen, GRID_TOTAL);
	if (!v->count)
		line_printf(&s->pen, "no rows");
	else if (shown < v->count)
		line_printf(&s->pen, "rows %zu to %zu of %zu", first + 1, first + shown, v->count);
	else
		line_printf(&s->pen, "%zu row%s", v->count, v->count == 1 ? "" : "s");
	screen_line(s, LOOK_PLAIN);
}

static void draw_list(struct view *v, struct screen *s)
{
	struct table *t = &v->table;
	size_t first, count;

	view_place(v, &first, &count);
	t->r = v->r;
	t->style = &v->style;
	t->rows = v->rows + first;
	t->row_count = count;
	t->marked = v->set.order.keys.count ? v->set.order.keys.item[0] : NULL;
	table_place(t);
	grid_measure(&t->grid);
	view_head_draw(v, s);
	if (v->height >= 3) {
		s->pen.attr = ATTR_BOLD;
		grid_put_heading(&t->grid, &s->pen);
		screen_line(s, LOOK_HEADER);
	}
	for (size_t i = 0; i < count; i++) {
		grid_put_row(&t->grid, &s->pen, i);
		screen_line(s, first + i == v->cursor ? LOOK_SELECTED : LOOK_PLAIN);
	}
	screen_fill(s, view_head_lines(v) + (v->height >= 3) + (unsigned)view_page(v));
	if (v->height >= 4)
		draw_sums(v, s, first, count);
}

void view_draw(struct view *v, struct screen *s)
{
	screen_begin(s, v->width, v->height);
	if (!v->r) {
		line_printf(&s->pen, "reading…");
		screen_line(s, LOOK_PLAIN);
		return;
	}
	switch (v->mode) {
	case VIEW_LIST:
		draw_list(v, s);
		break;
	case VIEW_DETAIL:
		view_detail_draw(v, s);
		break;
	case VIEW_HELP:
	case VIEW_COLUMNS:
	case VIEW_SORT:
		view_menu_draw(v, s);
		break;
	}
	/* Messages and prompts replace the last line if no line is free. */
	if (s->count == s->height && (v->prompt || *v->message))
		screen_remove_line(s);
	draw_last(v, s);
}
