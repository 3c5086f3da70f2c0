// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Menus to choose columns and the sort column, and the help text, which only scrolls. */
#include <string.h>

#include "base/array.h"
#include "top/view.h"

static const char *const help_lines[] = {
	"up down k j             move the cursor; also PgUp PgDn Home End G",
	"left right              scroll to columns that do not fit",
	"Enter                   details of a process; processes of a group",
	"i                       details, also of a group: counters, history, cgroup",
	"w                       which code makes a process grow: stacks, by growth",
	"Esc Backspace           go back from the processes of a group to the groups",
	"Esc                     stop following; clear filters; go to the first row",
	"F                       follow: keep the row in sight when it moves",
	"/ F3                    search names; / Enter: find the next match",
	"f F4                    filter by name or command line (regular expression)",
	"u                       show only processes of these users",
	"s F6    < >             choose the sort column; sort by the column left, right",
	"M S N                   sort by PSS, swap, PID",
	"r I                     reverse the order",
	"g                       group by name, user, unit, container, pod, …, or not",
	"t F5                    tree: sums of each process and its descendants",
	"- + *                   in the tree: fold a row, open it; fold or open all",
	"x                       show changes: per second, since the start, or none",
	"n                       show only rows that changed",
	"c                       show command lines instead of names",
	"l                       files of the machine, in RAM and in swap; l: back",
	"                        in them: Enter holders, g fs mount kind dir, f s / r",
	"o F2                    columns: Enter shows or hides one, + - move it",
	"b                       switch between exact bytes and KiB MiB GiB",
	"Space p Z               pause or continue",
	"d  + -                  set, lengthen, shorten the interval; in the tree: d",
	", .                     in a recording: previous, next snapshot",
	"[ ]  { }                in a recording: a minute, 10 minutes back, on",
	"E e                     in a recording: previous, next event, as an OOM kill",
	"@                       in a recording: go to a time, such as 03:14 or event:1",
	"m                       in the details: read the mappings again",
	"Ctrl-L                  redraw the screen",
	"? h F1                  show or leave help; q F10: go back or quit",
	"",
	"The bars of RAM and swap: the legend shows the character of each part.",
	"Avail: MemAvailable. Pressure: the share of the last 10 s in which some tasks,",
	"or all tasks, waited for memory. Swap in, out: what is read and written.",
	"The time line of a recording: # is the snapshot, ! an event, a blank a gap.",
	"- means not measured: Enter shows the process, and why its PSS is not known.",
};

const char *view_key_help(size_t i)
{
	return i < ARRAY_SIZE(help_lines) && *help_lines[i] ? help_lines[i] : NULL;
}

/* All columns, for processes and for groups, and all columns of changes. */
static size_t menu_count(const struct view *v)
{
	if (v->mode == VIEW_FILE_SORT)
		return view_file_sorts(v);
	return v->mode == VIEW_HELP ? ARRAY_SIZE(help_lines) : process_fields.since + COUNTERS_OF_PROCESS;
}

static const struct field *menu_column(size_t i)
{
	return i < process_fields.since ? process_fields.item[i] : column_changes[i - process_fields.since];
}

static size_t menu_page(const struct view *v)
{
	return v->height > 2 ? v->height - 2 : 1;
}

static size_t list_at(const struct field_list *list, const struct field *c)
{
	size_t i = 0;

	while (i < list->count && list->item[i] != c)
		i++;
	return i;
}

void view_menu_open(struct view *v, enum view_mode mode)
{
	if (mode == VIEW_HELP)
		v->help_from = v->mode;
	v->mode = mode;
	v->menu = v->menu_scroll = 0;
	if (mode == VIEW_FILE_SORT) {
		while (v->menu + 1 < menu_count(v) &&
		       view_file_sort(v, v->menu) != v->files.set.sort)
			v->menu++;
	}
	if (mode == VIEW_SORT && v->set.order.keys.count) {
		while (v->menu + 1 < menu_count(v) &&
		       menu_column(v->menu) != v->set.order.keys.item[0])
			v->menu++;
	}
}

static void menu_move(struct view *v, long by)
{
	size_t page = menu_page(v), count = menu_count(v), *at = &v->menu;
	size_t last = count - 1;

	/* Help has no cursor: scroll. */
	if (v->mode == VIEW_HELP) {
		at = &v->menu_scroll;
		last = count > page ? count - page : 0;
	}
	if (by < 0)
		*at = *at > (size_t)-by ? *at - (size_t)-by : 0;
	else
		*at = *at + (size_t)by < last ? *at + (size_t)by : last;
}

static unsigned toggle_column(struct view *v)
{
	struct field_list *list = view_columns_mutable(v);
	const struct field *c = menu_column(v->menu);
	size_t at = list_at(list, c);

	if (at == list->count && list->count < FIELDS_MAX) {
		/* Insert before the last text column, which has the rest of the line. */
		size_t to = list->count && list->item[list->count - 1]->kind == COLUMN_TEXT
				    ? list->count - 1
				    : list->count;

		memmove(&list->item[to + 1], &list->item[to],
			(list->count - to) * sizeof(list->item[0]));
		list->item[to] = c;
		list->count++;
	} else if (at < list->count && list->count > 1) {
		list->count--;
		memmove(&list->item[at], &list->item[at + 1],
			(list->count - at) * sizeof(list->item[0]));
	}
	view_columns_changed(v);
	return VIEW_ASK_ROWS;
}

static unsigned move_column(struct view *v, int by)
{
	struct field_list *list = view_columns_mutable(v);
	size_t at = list_at(list, menu_column(v->menu)), to = at + (size_t)by;
	const struct field *c;

	if (at == list->count || to >= list->count)
		return 0;
	c = list->item[at];
	list->item[at] = list->item[to];
	list->item[to] = c;
	view_columns_changed(v);
	return 0;
}

static unsigned choose_column(struct view *v)
{
	const struct field *c;

	if (v->mode == VIEW_FILE_SORT) {
		v->mode = VIEW_FILES;
		return view_files_sort_by(v, view_file_sort(v, v->menu));
	}
	c = menu_column(v->menu);
	if (v->mode == VIEW_COLUMNS)
		return toggle_column(v);
	v->mode = VIEW_LIST;
	if (v->set.order.keys.item[0] == c)
		v->set.order.reverse = !v->set.order.reverse;
	v->set.order.keys = (struct field_list){.item = {c}, .count = 1};
	v->moved = true;
	return VIEW_ASK_ROWS;
}

static void menu_close(struct view *v)
{
	v->mode = v->mode == VIEW_HELP	      ? v->help_from
		  : v->mode == VIEW_FILE_SORT ? VIEW_FILES
					      : VIEW_LIST;
	v->menu = v->menu_scroll = 0;
	v->moved = true;
}

unsigned view_menu_key(struct view *v, int key)
{
	switch (key) {
	case TOP_UP:
	case 'k':
		menu_move(v, -1);
		return 0;
	case TOP_DOWN:
	case 'j':
		menu_move(v, 1);
		return 0;
	case TOP_PAGE_UP:
		menu_move(v, -(long)menu_page(v));
		return 0;
	case TOP_PAGE_DOWN:
	case ' ':
		if (key == ' ' && v->mode == VIEW_COLUMNS)
			return toggle_column(v);
		menu_move(v, (long)menu_page(v));
		return 0;
	case TOP_HOME:
		menu_move(v, -(long)menu_count(v));
		return 0;
	case TOP_END:
		menu_move(v, (long)menu_count(v));
		return 0;
	case '+':
	case '-':
		if (v->mode != VIEW_COLUMNS)
			return view_key_unknown(v, key);
		return move_column(v, key == '+' ? 1 : -1);
	case TOP_ENTER:
		if (v->mode != VIEW_HELP)
			return choose_column(v);
		/* fall through */
	case TOP_ESCAPE:
	case 'q':
	case TOP_F(10):
		menu_close(v);
		return 0;
	case '?':
	case 'h':
	case TOP_F1:
		if (v->mode == VIEW_HELP)
			menu_close(v);
		else
			view_menu_open(v, VIEW_HELP);
		return 0;
	case TOP_CTRL('l'):
		return VIEW_ASK_REDRAW;
	}
	return view_key_unknown(v, key);
}

/* What the program itself uses, behind the title of the help. */
static void put_own_cost(const struct view *v, struct line *l)
{
	const struct view_facts *f = &v->facts;

	line_printf(l, "   this program: ");
	if (f->own_known) {
		line_printf(l, "%u.%u %% of a CPU, ", f->own_cpu / 10, f->own_cpu % 10);
		cell_put(l, cell_bytes(true, f->own_rss), false);
		line_printf(l, ", ");
	}
	line_printf(l, "%u.%u ms to collect", (unsigned)(f->collect_us / 1000),
		    (unsigned)(f->collect_us % 1000 / 100));
}

static void menu_line(struct view *v, struct screen *s, size_t i)
{
	const struct field *c;
	int column;

	if (v->mode == VIEW_FILE_SORT) {
		column = view_file_sort(v, i);
		line_printf(&s->pen, "%-16s %s", column < 0 ? "-" : file_column_header(column),
			    column >= 0 ? file_column_help(column)
			    : v->files.set.group != FILE_GROUP_NONE
				    ? "by bytes in RAM and in swap"
				    : "large shared memory first, by bytes in RAM and in swap");
	} else {
		c = menu_column(i);
		if (v->mode == VIEW_COLUMNS)
			line_printf(&s->pen, "[%c] ",
				    field_list_has(view_columns(v), c) ? 'x' : ' ');
		line_printf(&s->pen, "%-16s %s", c->key, c->help);
	}
	screen_line(s, i == v->menu ? LOOK_SELECTED : LOOK_PLAIN);
}

static void scroll_to(struct view *v)
{
	size_t page = menu_page(v), count = menu_count(v);

	if (v->mode != VIEW_HELP && v->menu < v->menu_scroll)
		v->menu_scroll = v->menu;
	if (v->mode != VIEW_HELP && v->menu >= v->menu_scroll + page)
		v->menu_scroll = v->menu - page + 1;
	if (v->menu_scroll + page > count)
		v->menu_scroll = count > page ? count - page : 0;
}

void view_menu_draw(struct view *v, struct screen *s)
{
	static const char *const title[] = {
		[VIEW_COLUMNS] = "Columns",
		[VIEW_SORT] = "Sort by",
		[VIEW_HELP] = "Keys",
		[VIEW_FILE_SORT] = "Sort files by",
	};

	scroll_to(v);
	line_printf(&s->pen, "%s", title[v->mode]);
	if (v->mode == VIEW_HELP && v->facts.collect_us)
		put_own_cost(v, &s->pen);
	screen_line(s, LOOK_HEADER);
	for (size_t i = 0; i < menu_page(v) && v->menu_scroll + i < menu_count(v); i++) {
		if (v->mode != VIEW_HELP) {
			menu_line(v, s, v->menu_scroll + i);
			continue;
		}
		line_printf(&s->pen, "%s", help_lines[v->menu_scroll + i]);
		screen_line(s, LOOK_PLAIN);
	}
	screen_fill(s, s->height - 1);
}
