// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The view of top: which rows are visible and which row the cursor is on. The cursor belongs to a
 * row, not to a line: it stays on that row while others come and go. view_keys.c handles keys,
 * view_draw.c draws.
 */
#include "top/view.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

/* Narrower terminals show fewer columns, to leave room for the name. */
#define WIDE_ENOUGH 110
#define NARROW	    64
#define TINY	    34

void view_init(struct view *v, const struct view_settings *set)
{
	*v = (struct view){.set = *set, .width = 80, .height = 24, .files.set.sort = -1};
	v->style.columns = &v->fitting;
	v->style.header = true;
	v->style.color = true;
	view_columns_changed(v);
}

void view_done(struct view *v)
{
	view_set_maps(v, NULL, PSS_SKIPPED);
	view_files_done(v);
	folds_done(&v->folds);
	free((char *)v->within.group.text);
	v->within.group = (struct group_id){};
}

void view_set_message(struct view *v, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(v->message, sizeof(v->message), fmt, args);
	va_end(args);
}

/* ---- rows across snapshots ---- */

/* Groups with the same hash are one row for the cursor until the next tick. */
struct row_id view_id(const struct view *v, const struct process *p)
{
	if (p->pid)
		return (struct row_id){p->pid, p->start_ns};
	return (struct row_id){0, v->r->group ? hash_text(HASH_START, v->r->group->text(p)) : 0};
}

bool view_same_id(struct row_id a, struct row_id b)
{
	return a.pid == b.pid && a.key == b.key;
}

struct process *view_row(const struct view *v)
{
	return v->cursor < v->count ? v->rows[v->cursor] : NULL;
}

void view_hold_row(struct view *v)
{
	struct process *p = view_row(v);
	struct row_id id;

	if (!p)
		return;
	id = view_id(v, p);
	if (!view_same_id(id, v->id))
		history_clear(&v->history);
	v->id = id;
	v->held = true;
}

/* ---- columns ---- */

const struct field_list *view_columns(const struct view *v)
{
	return &v->set.columns[v->set.group != NULL];
}

struct field_list *view_columns_mutable(struct view *v)
{
	v->set.chosen[v->set.group != NULL] = true;
	return &v->set.columns[v->set.group != NULL];
}

static void list_remove(struct field_list *list, const char *const *keys, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++) {
		bool keep = true;

		for (size_t k = 0; k < count; k++)
			keep &= strcmp(list->item[i]->key, keys[k]) != 0;
		if (keep)
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

void view_columns_changed(struct view *v)
{
	static const char *const hide_narrow[] = {"user",      "uss",	      "rss",
						  "swap",      "rss_anon",    "rss_file",
						  "rss_shmem", "mem_current", "swap_pss_change",
						  "rss_change"};
	static const char *const hide_tiny[] = {"pid",	     "swap_pss", "procs",     "%pss",
						"mem_limit", "%limit",	 "pss_change"};
	/* Names of cgroups are long. What fills them is also in the details of a row. */
	static const char *const hide_narrow_cgroups[] = {
		"uss", "rss", "%pss", "swap_pss_change", "mem_anon", "mem_file", "mem_shmem"};
	static const char *const hide_parts[] = {"rss_anon", "rss_file", "rss_shmem", "rss_change"};
	struct field_list *list = &v->fitting;
	bool chosen = v->set.chosen[v->set.group != NULL];

	*list = *view_columns(v);
	if (!chosen && v->set.changes && !v->set.tree)
		process_list_watch(list, v->set.group);
	if (v->set.cmdline)
		list_replace(list, "name", "cmdline");
	if (!chosen && v->width < WIDE_ENOUGH)
		list_remove(list, hide_parts, ARRAY_SIZE(hide_parts));
	if (!chosen && v->width < WIDE_ENOUGH && v->set.group && v->set.group->needs & NEEDS_CGROUP)
		list_remove(list, hide_narrow_cgroups, ARRAY_SIZE(hide_narrow_cgroups));
	if (!chosen && v->width < NARROW)
		list_remove(list, hide_narrow, ARRAY_SIZE(hide_narrow));
	if (!chosen && v->width < TINY)
		list_remove(list, hide_tiny, ARRAY_SIZE(hide_tiny));
	if (v->left && v->left >= list->count)
		v->left = list->count - 1;
	list->count -= v->left;
	memmove(list->item, list->item + v->left, list->count * sizeof(list->item[0]));
	memset(&v->table.grid, 0, sizeof(v->table.grid));
}

void view_resize(struct view *v, unsigned width, unsigned height)
{
	v->width = width ? width : 1;
	v->height = height ? height : 1;
	v->moved = true;
	view_columns_changed(v);
}

/* ---- the cursor and the window ---- */

void view_move(struct view *v, long by)
{
	size_t last = v->count ? v->count - 1 : 0;

	if (by < 0)
		v->cursor = v->cursor > (size_t)-by ? v->cursor - (size_t)-by : 0;
	else
		v->cursor = last - v->cursor > (size_t)by ? v->cursor + (size_t)by : last;
	v->moved = true;
	view_hold_row(v);
}

static void restore_cursor(struct view *v)
{
	for (size_t i = 0; v->held && i < v->count; i++) {
		if (!view_same_id(view_id(v, v->rows[i]), v->id))
			continue;
		v->cursor = i;
		return;
	}
	if (v->held && v->follow) {
		const char *why = v->set.tree && v->folds.count ? "gone, or folded" : "gone";

		if (v->id.pid)
			view_set_message(v, "%d is %s", v->id.pid, why);
		else
			view_set_message(v, "%s is %s", v->followed, why);
		v->follow = false;
	}
	if (v->cursor >= v->count)
		v->cursor = v->count ? v->count - 1 : 0;
	/* Hold the row that took its place. */
	if (v->held && v->mode != VIEW_DETAIL)
		view_hold_row(v);
}

static void record_history(struct view *v)
{
	const struct process *p = view_row(v);

	if (!p)
		return;
	if (!v->held) {
		struct row_id id = view_id(v, p);

		/* Not held: the first row, which may be another one than before. */
		if (!view_same_id(id, v->id))
			history_clear(&v->history);
		v->id = id;
	} else if (!view_same_id(view_id(v, p), v->id)) {
		return;
	}
	history_add(&v->history, v->r->snapshot->time_ms, process_has(p, COUNTER_PSS_SWAP),
		    p->value[COUNTER_PSS_SWAP]);
}

void view_set_rows(struct view *v, const struct result *r, struct process *const *rows,
		   size_t count, bool tick)
{
	bool grouped = v->r && v->kind != r->group;
	size_t first, in_sight;

	v->r = r;
	v->kind = r->group;
	v->rows = rows;
	v->count = count;
	if (grouped) {
		/* The rows are of another kind. */
		v->held = v->follow = false;
		v->cursor = v->scroll = 0;
	}
	if (v->within.leaving) {
		v->held = v->moved = true;
		v->id = v->within.id;
		v->scroll = v->within.scroll;
		v->within.leaving = false;
	}
	if (tick)
		folds_prune(&v->folds, r->snapshot);
	restore_cursor(v);
	if (tick)
		record_history(v);
	if (v->mode == VIEW_DETAIL)
		view_detail_update(v);
	view_place(v, &first, &in_sight);
}

void view_clear_rows(struct view *v)
{
	v->rows = NULL;
	v->count = 0;
}

unsigned view_head_lines(const struct view *v)
{
	/* The minimum height of the terminal for each line. */
	static const unsigned from[] = {8, 10, 12, 14, 16, 18};
	unsigned lines = 0, most = ARRAY_SIZE(from) - !v->facts.timeline;

	while (lines < most && v->height >= from[lines])
		lines++;
	return lines;
}

size_t view_page(const struct view *v)
{
	/* Headings from 3 lines on, the total from 4, the keys from 6. */
	unsigned around = view_head_lines(v) + (v->height >= 3) + (v->height >= 4) +
			  (v->height >= 6 || v->prompt || *v->message);

	return v->height > around ? v->height - around : 1;
}

void view_place(struct view *v, size_t *ret_first, size_t *ret_count)
{
	size_t page = view_page(v);

	if (v->moved || v->follow) {
		if (v->cursor < v->scroll)
			v->scroll = v->cursor;
		if (v->cursor >= v->scroll + page)
			v->scroll = v->cursor - page + 1;
	}
	v->moved = false;
	/* Leave no empty lines while rows are out of sight. */
	if (v->scroll + page > v->count)
		v->scroll = v->count > page ? v->count - page : 0;
	*ret_first = v->scroll;
	*ret_count = v->count - v->scroll < page ? v->count - v->scroll : page;
}
