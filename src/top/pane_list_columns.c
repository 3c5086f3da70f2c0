// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The columns of the list: which ones fit, and the menus to choose them and the sort column. */
#include <string.h>

#include "base/array.h"
#include "base/parse.h"
#include "top/panes.h"

#define LIVE_ENOUGH 100
/* From this width on the details of a row are beside the list, and take what it does not need. */
#define BESIDE_FROM 140
#define BESIDE_MOST 60

/* Narrower lists leave out these columns, but not the one that rows are sorted by. */
static const struct {
	unsigned width;
	bool cgroups; /* in lists of cgroups alone: their names are long */
	bool screen;  /* the details beside the list count as its width */
	const char *keys;
} left_out[] = {
	{LIVE_ENOUGH, .keys = "swapin,wait,grown_h,peak"},
	{110, .keys = "rss_anon,rss_file,rss_shmem,rss_change"},
	{110, .cgroups = true, .keys = "uss,rss,%pss,swap_pss_change,limit_up"},
	/* What fills them is also in the details of a row. */
	{160, .cgroups = true, .keys = "mem_anon,mem_file,mem_shmem,mem_kernel"},
	{64, .screen = true,
	 .keys = "user,uss,rss,swap,rss_anon,rss_file,rss_shmem,mem_current,swap_pss_change,rss_change"},
	{34, .screen = true,
	 .keys = "pid,swap_pss,procs,%pss,nearest_limit,limit_up,%nearest,pss_change"},
};

static void list_remove(struct field_list *list, const char *keys, const struct field *sort)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++) {
		if (list->item[i] == sort || !parse_has_item(keys, list->item[i]->key))
			list->item[kept++] = list->item[i];
	}
	list->count = kept;
}

static void list_replace(struct field_list *list, const char *from, const char *to)
{
	for (size_t i = 0; i < list->count; i++) {
		if (strcmp(list->item[i]->key, from) == 0)
			list->item[i] = process_field(to);
	}
}

/* The columns that are usual for the width. */
static void fit_usual(struct list_pane *l, unsigned width)
{
	const struct shared *v = l->pane.shared;
	const struct order *order = &v->set.order;

	if (v->set.changes && !v->set.tree)
		process_list_columns(&l->fitting, &columns_watch, v->set.group);
	if (!(l->counted & COUNTER_BIT(COUNTER_SWAPINS)))
		list_remove(&l->fitting, "swapin", NULL);
	if (!(l->counted & COUNTER_BIT(COUNTER_MEM_WAIT)))
		list_remove(&l->fitting, "wait", NULL);
	for (size_t i = 0; i < ARRAY_SIZE(left_out); i++) {
		if ((left_out[i].screen ? v->width : width) < left_out[i].width &&
		    (!left_out[i].cgroups || group_is_memcg(v->set.group)))
			list_remove(&l->fitting, left_out[i].keys,
				    order->keys.count ? order->keys.item[0] : NULL);
	}
}

/* The column of the groups before, the last one of its kind, becomes that of the new ones. */
static void name_groups(struct field_list *list, const struct field *group)
{
	size_t at = list->count;

	while (at && !(list->item[at - 1]->type == FIELD_TEXT && list->item[at - 1]->group))
		at--;
	if (at)
		list->item[at - 1] = group;
	else
		field_list_append(list, &group, 1);
}

/* What the user chose stays: of processes, all but what one process has alone. */
static void keep_chosen(const struct field_list *chosen, const struct field *group,
			struct field_list *list)
{
	const struct field *procs = process_field("procs");

	*list = (struct field_list){};
	field_list_append(list, &procs, 1);
	for (size_t i = 0; i < chosen->count; i++) {
		const struct field *f = chosen->item[i];

		if (f->type != FIELD_TEXT && f->type != FIELD_NUMBER && f != procs)
			field_list_append(list, &f, 1);
	}
	field_list_append(list, &group, 1);
}

void list_columns_of_group(struct view_settings *set)
{
	struct field_list *list = &set->columns[FOR_GROUPS];

	if (set->chosen[FOR_GROUPS])
		name_groups(list, set->group);
	else if (set->chosen[FOR_PROCESSES])
		keep_chosen(&set->columns[FOR_PROCESSES], set->group, list);
	else
		process_list_columns(list, &columns_live, set->group);
	set->chosen[FOR_GROUPS] |= set->chosen[FOR_PROCESSES];
}

void list_columns_changed(struct list_pane *l)
{
	struct shared *v = l->pane.shared;
	struct field_list *list = &l->fitting;
	bool chosen = v->set.chosen[v->set.group != NULL];

	/* Command lines, columns of groups and chosen ones may need all the room. */
	v->beside = v->width < BESIDE_FROM || chosen || v->set.group || v->set.cmdline ? 0
		    : v->width - LIVE_ENOUGH > BESIDE_MOST			       ? BESIDE_MOST
							   : v->width - LIVE_ENOUGH;
	*list = v->set.columns[v->set.group != NULL];
	if (!chosen)
		fit_usual(l, v->width - v->beside);
	if (v->set.cmdline)
		list_replace(list, "name", "cmdline");
	if (l->left && l->left >= list->count)
		l->left = list->count - 1;
	list->count -= l->left;
	memmove(list->item, list->item + l->left, list->count * sizeof(list->item[0]));
	memmove(list->asked, list->asked + l->left, list->count);
	memset(&l->table.grid, 0, sizeof(l->table.grid));
}

void list_columns_fit(struct list_pane *l)
{
	const struct field_list *list = &l->fitting;
	struct grid *g = &l->table.grid;
	bool asked = false;

	for (size_t i = 0; i < list->count; i++) {
		asked |= list->asked[i];
		g->column[i].asked |= g->column[i].marked;
	}
	if (asked)
		grid_fit(g, l->pane.shared->width - l->pane.shared->beside);
}

/* ---- menus: all columns, for processes and for groups, and all columns of changes ---- */

static size_t menu_count(__attribute__((unused)) const struct pane *owner)
{
	/* Without the last one, which top does not show: GREW. */
	return process_fields.count - 1;
}

static const struct field *menu_column(size_t i)
{
	return process_fields.item[i];
}

/* The columns that are shown, to be changed by the user. */
static struct field_list *chosen_columns(struct pane *owner)
{
	struct view_settings *set = &owner->shared->set;
	struct field_list *list = &set->columns[set->group != NULL];

	set->chosen[set->group != NULL] = true;
	memset(list->asked, 0, sizeof(list->asked));
	return list;
}

static size_t list_at(const struct field_list *list, const struct field *c)
{
	size_t i = 0;

	while (i < list->count && list->item[i] != c)
		i++;
	return i;
}

static void columns_line(const struct pane *owner, size_t i, struct line *l)
{
	const struct view_settings *set = &owner->shared->set;
	const struct field *c = menu_column(i);

	line_printf(l, "[%c] %-16s %s",
		    field_list_has(&set->columns[set->group != NULL], c) ? 'x' : ' ', c->key,
		    c->help);
}

static unsigned toggle_column(struct pane *owner, size_t i)
{
	struct field_list *list = chosen_columns(owner);
	const struct field *c = menu_column(i);
	size_t at = list_at(list, c);

	if (at == list->count && list->count < FIELDS_MAX) {
		/* Insert before the last text column, which has the rest of the line. */
		size_t to = list->count && list->item[list->count - 1]->type == FIELD_TEXT
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
	list_columns_changed((struct list_pane *)owner);
	return VIEW_ASK_ROWS;
}

static unsigned move_column(struct pane *owner, size_t i, int by)
{
	struct field_list *list = chosen_columns(owner);
	size_t at = list_at(list, menu_column(i)), to = at + (size_t)by;
	const struct field *c;

	if (at == list->count || to >= list->count)
		return 0;
	c = list->item[at];
	list->item[at] = list->item[to];
	list->item[to] = c;
	list_columns_changed((struct list_pane *)owner);
	return 0;
}

const struct menu list_columns_menu = {
	.title = "Columns",
	.hints = "Esc back  Enter show or hide  +_- move",
	.count = menu_count,
	.line = columns_line,
	.choose = toggle_column,
	.shift = move_column,
};

static void sort_line(__attribute__((unused)) const struct pane *owner, size_t i, struct line *l)
{
	line_printf(l, "%-16s %s", menu_column(i)->key, menu_column(i)->help);
}

static size_t sort_begin(const struct pane *owner)
{
	const struct field_list *keys = &owner->shared->set.order.keys;
	size_t i = 0;

	while (keys->count && i + 1 < menu_count(owner) && menu_column(i) != keys->item[0])
		i++;
	return i;
}

static unsigned choose_sort(struct pane *owner, size_t i)
{
	struct order *order = &owner->shared->set.order;

	if (order->keys.item[0] == menu_column(i))
		order->reverse = !order->reverse;
	order->keys = order_keys(menu_column(i), true);
	return VIEW_ASK_ROWS | PANE_CLOSE;
}

const struct menu list_sort_menu = {
	.title = "Sort by",
	.hints = "Esc back  Enter sort, again: reverse",
	.count = menu_count,
	.line = sort_line,
	.begin = sort_begin,
	.choose = choose_sort,
};
