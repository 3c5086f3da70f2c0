// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Handles keys in the list of rows. Keys that top and htop have do the same here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "top/view.h"

static unsigned sort_by(struct view *v, const struct field *c)
{
	v->set.order.keys = (struct field_list){.item = {c}, .count = 1};
	v->moved = true;
	return VIEW_ASK_ROWS;
}

static unsigned sort_key(struct view *v, const char *key)
{
	return sort_by(v, process_field(key));
}

/* Sorts by the visible column to the left or right of the sort column. */
static unsigned sort_beside(struct view *v, int by)
{
	const struct field_list *list = &v->fitting;
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

/* ---- the processes of a group ---- */

/* Forgets the group: all processes are shown again. */
static void within_end(struct view *v)
{
	free((char *)v->within.group.text);
	v->within.group = (struct group_id){};
}

/* Shows the processes of the group at the cursor. */
static unsigned within_enter(struct view *v)
{
	const struct process *p = view_row(v);
	struct group_id group = group_id_of(v->kind, p);

	if (group.text && !(group.text = strdup(group.text))) {
		view_set_message(v, "out of memory");
		return 0;
	}
	within_end(v);
	v->within = (struct view_within){
		.group = group, .id = view_id(v, p), .order = v->set.order, .scroll = v->scroll};
	/* Processes have no counters of memory cgroups to be sorted by. */
	if (process_list_misplaced(&v->set.order.keys, NULL))
		v->set.order.keys =
			(struct field_list){.item = {process_field("pss")}, .count = 1};
	v->set.group = NULL;
	v->set.tree = false;
	v->left = 0;
	v->follow = false;
	view_columns_changed(v);
	return VIEW_ASK_FILTER;
}

/* Shows the groups again, as they were. */
static unsigned within_leave(struct view *v)
{
	v->set.group = v->within.group.key;
	v->set.order = v->within.order;
	v->set.tree = false;
	v->left = 0;
	v->follow = false;
	v->within.leaving = true;
	within_end(v);
	view_columns_changed(v);
	return VIEW_ASK_FILTER;
}

/* ---- how rows are made and sorted ---- */

static unsigned group_next(struct view *v)
{
	static const char *const key[] = {"name", "user",      "unit",	"container",
					  "pod",  "namespace", "cgroup"};
	unsigned ask = v->within.group.key ? VIEW_ASK_FILTER : VIEW_ASK_ROWS;
	size_t at = 0;

	/* From the processes of a group on to the next kind of groups. */
	if (v->within.group.key)
		v->set.group = v->within.group.key;
	within_end(v);
	while (v->set.group && at < ARRAY_SIZE(key) && strcmp(key[at], v->set.group->key) != 0)
		at++;
	at += v->set.group != NULL;
	v->set.group = at < ARRAY_SIZE(key) ? process_field(key[at]) : NULL;
	v->set.tree = false;
	v->left = 0;
	if (v->set.group) {
		process_list_usual(&v->set.columns[1], v->set.group);
		v->set.chosen[1] = false;
	}
	view_columns_changed(v);
	return ask;
}

static unsigned tree_switch(struct view *v)
{
	v->set.tree = !v->set.tree;
	v->set.group = NULL;
	v->moved = true;
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
	static const unsigned steps[] = {100,	  200,	   500,	     1000,     2000,	 3000,
					 5000,	  10000,   30000,    60000,    300000,	 600000,
					 1800000, 3600000, 10800000, 21600000, 43200000, 86400000};
	unsigned now = v->set.interval_ms, next = now;

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		if (longer && steps[i] > now) {
			next = steps[i];
			break;
		}
		if (!longer && steps[i] < now)
			next = steps[i];
	}
	if (next == now)
		view_set_message(v, longer ? "the interval is at most 86,400 s"
					   : "the interval is at least 0.1 s");
	v->set.interval_ms = next;
	return next == now ? 0 : VIEW_ASK_INTERVAL;
}

static unsigned follow_switch(struct view *v)
{
	const struct process *p = view_row(v);

	if (!p)
		return 0;
	v->follow = !v->follow;
	snprintf(v->followed, sizeof(v->followed), "%s", view_row_text(v, p));
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

/* ---- folds of the tree ---- */

static unsigned fold_row(struct view *v, bool fold)
{
	const struct process *p = view_row(v);
	bool folded = p && folds_has(&v->folds, p);

	if (!p)
		return 0;
	if (fold && (folded || p->procs < 2)) {
		view_set_message(v, folded ? "%d is folded" : "%d has no processes below it",
				 p->pid);
		return 0;
	}
	if (!fold && !folded) {
		view_set_message(v, "%d is not folded", p->pid);
		return 0;
	}
	view_hold_row(v);
	v->moved = true;
	if (!fold)
		folds_remove(&v->folds, p);
	else if (folds_add(&v->folds, p) < 0)
		view_set_message(v, "out of memory");
	return VIEW_ASK_ROWS;
}

/* Opens all rows, or folds all if none is folded. */
static unsigned fold_all(struct view *v)
{
	bool any = v->folds.count;

	folds_done(&v->folds);
	for (size_t i = 0; !any && i < v->count; i++) {
		if (v->rows[i]->procs > 1 && folds_add(&v->folds, v->rows[i]) < 0)
			view_set_message(v, "out of memory");
	}
	v->moved = true;
	return VIEW_ASK_ROWS;
}

static unsigned key_fold(struct view *v, int key, bool *ret_known)
{
	*ret_known = v->set.tree;
	if (!v->set.tree)
		return 0;
	switch (key) {
	case '-':
		return fold_row(v, true);
	case '+':
	case '=':
		return fold_row(v, false);
	case '*':
		return fold_all(v);
	}
	*ret_known = false;
	return 0;
}

/*
 * Escape ends following, else leaves the processes of a group, else clears filters, else returns to
 * the first row.
 */
static unsigned escape(struct view *v)
{
	if (v->follow) {
		v->follow = false;
	} else if (v->within.group.key) {
		return within_leave(v);
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

/* ---- moments of a recording ---- */

static unsigned go(struct view *v, int key, enum view_go where, int minutes)
{
	if (!v->facts.frames)
		return view_key_unknown(v, key);
	v->go = where;
	v->go_minutes = minutes;
	return VIEW_ASK_GO;
}

static unsigned key_time(struct view *v, int key, bool *ret_known)
{
	*ret_known = true;
	switch (key) {
	case '.':
		return v->facts.frames ? VIEW_ASK_FORWARD : view_key_unknown(v, key);
	case ',':
		return v->facts.frames ? VIEW_ASK_BACK : view_key_unknown(v, key);
	case ']':
		return go(v, key, GO_MINUTES, 1);
	case '[':
		return go(v, key, GO_MINUTES, -1);
	case '}':
		return go(v, key, GO_MINUTES, 10);
	case '{':
		return go(v, key, GO_MINUTES, -10);
	case 'e':
		return go(v, key, GO_NEXT_EVENT, 0);
	case 'E':
		return go(v, key, GO_PREVIOUS_EVENT, 0);
	case '@':
		if (!v->facts.frames)
			return view_key_unknown(v, key);
		view_prompt_open(v, PROMPT_TIME);
		return 0;
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
		if (view_row(v) && v->kind && v->set.group)
			return within_enter(v);
		/* fall through */
	case 'i':
		if (!view_row(v))
			return 0;
		view_detail_open(v);
		return VIEW_ASK_DETAIL;
	case 'l':
		return view_files_open(v);
	case 'w':
		return view_growth_open(v);
	case TOP_BACKSPACE:
	case TOP_CTRL('h'):
		return v->within.group.key ? within_leave(v) : view_key_unknown(v, key);
	case 'q':
	case 'Q':
	case TOP_F(10):
		return VIEW_ASK_QUIT;
	}
	return view_key_anywhere(v, key);
}

/* ---- keys without a meaning ---- */

/* What a key does, and in which mode. */
static const struct key_use {
	int key;
	enum view_mode mode;
	const char *does;
} key_uses[] = {
	{'/', VIEW_LIST, "searches"},
	{TOP_F(3), VIEW_LIST, "searches"},
	{'f', VIEW_LIST, "filters"},
	{TOP_F(4), VIEW_LIST, "filters"},
	{'\\', VIEW_LIST, "filters"},
	{'u', VIEW_LIST, "chooses users"},
	{'s', VIEW_LIST, "chooses the sort column"},
	{TOP_F(6), VIEW_LIST, "chooses the sort column"},
	{'<', VIEW_LIST, "sorts by the column to the left"},
	{'>', VIEW_LIST, "sorts by the column to the right"},
	{'M', VIEW_LIST, "sorts by PSS"},
	{'P', VIEW_LIST, "sorts by PSS"},
	{'S', VIEW_LIST, "sorts by swap"},
	{'N', VIEW_LIST, "sorts by PID"},
	{'r', VIEW_LIST, "reverses the order"},
	{'I', VIEW_LIST, "reverses the order"},
	{'g', VIEW_LIST, "makes groups"},
	{'t', VIEW_LIST, "shows the tree"},
	{TOP_F(5), VIEW_LIST, "shows the tree"},
	{'x', VIEW_LIST, "shows changes"},
	{'n', VIEW_LIST, "shows only rows that changed"},
	{'c', VIEW_LIST, "shows command lines"},
	{'o', VIEW_LIST, "chooses columns"},
	{TOP_F(2), VIEW_LIST, "chooses columns"},
	{'F', VIEW_LIST, "follows a row"},
	{'d', VIEW_LIST, "sets the interval"},
	{'i', VIEW_LIST, "shows details"},
	{'w', VIEW_LIST, "shows which code makes a process grow"},
	{'b', VIEW_LIST, "shows exact bytes"},
	{'l', VIEW_LIST, "shows the files"},
	{'p', VIEW_LIST, "pauses"},
	{'Z', VIEW_LIST, "pauses"},
	{'G', VIEW_LIST, "goes to the last row"},
	{TOP_RIGHT, VIEW_LIST, "scrolls the columns"},
	{'m', VIEW_DETAIL, "reads the mappings"},
	{'+', VIEW_COLUMNS, "moves a column"},
	{'-', VIEW_COLUMNS, "moves a column"},
};

static const char *key_name(int key, char *buf, size_t size)
{
	static const char *const special[] = {"up",   "down", "left", "right", "PgUp",
					      "PgDn", "Home", "End",  "Delete"};

	if (key == TOP_BACKSPACE || key == TOP_CTRL('h'))
		return "Backspace";
	if (key == '\t')
		return "Tab";
	if (key == TOP_ESCAPE)
		return "Esc";
	if (key >= TOP_F1 && key <= TOP_F12)
		snprintf(buf, size, "F%d", key - TOP_F1 + 1);
	else if (key >= TOP_UP && key <= TOP_DELETE)
		return special[key - TOP_UP];
	else if (key > 0 && key < ' ')
		snprintf(buf, size, "Ctrl-%c", key + 'A' - 1);
	else if (key > ' ' && key < 0x7f)
		snprintf(buf, size, "%c", key);
	else
		return "this key";
	return buf;
}

unsigned view_key_unknown(struct view *v, int key)
{
	static const char *const where[] = {
		[VIEW_LIST] = "in the list (Esc goes there)",
		[VIEW_DETAIL] = "in the details (i shows them)",
		[VIEW_COLUMNS] = "in the list of columns (o shows it)",
	};
	char buf[16];
	const char *name = key_name(key, buf, sizeof(buf));

	for (size_t i = 0; i < ARRAY_SIZE(key_uses); i++) {
		const struct key_use *use = &key_uses[i];

		if (use->key != key || use->mode == v->mode)
			continue;
		view_set_message(v, "%s %s %s", name, use->does, where[use->mode]);
		return 0;
	}
	if (v->mode == VIEW_LIST && key > 0 && key < 0x7f && strchr(".,[]{}eE@", key))
		view_set_message(
			v, "%s goes to another snapshot of a recording (top --replay FILE)", name);
	else if (v->mode == VIEW_LIST && key == '*')
		view_set_message(v, "* folds and opens the rows of a tree (t shows it)");
	else if (v->mode == VIEW_LIST && (key == TOP_BACKSPACE || key == TOP_CTRL('h')))
		view_set_message(v, "Backspace leads from the processes of a group to the groups");
	else
		view_set_message(v, "%s does nothing; ? lists the keys", name);
	return 0;
}

unsigned view_key_anywhere(struct view *v, int key)
{
	switch (key) {
	case ' ':
	case 'p':
	case 'Z':
		v->set.paused = !v->set.paused;
		return VIEW_ASK_INTERVAL;
	case TOP_CTRL('l'):
		return VIEW_ASK_REDRAW;
	case '?':
	case 'h':
	case TOP_F1:
		view_menu_open(v, VIEW_HELP);
		return 0;
	}
	return view_key_unknown(v, key);
}

static unsigned list_key(struct view *v, int key)
{
	bool known = false;
	unsigned ask = key_move(v, key, &known);

	if (!known)
		ask = key_order(v, key, &known);
	if (!known)
		ask = key_fold(v, key, &known);
	if (!known)
		ask = key_display(v, key, &known);
	if (!known)
		ask = key_time(v, key, &known);
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
	case VIEW_GROWTH:
		return view_growth_key(v, key);
	case VIEW_HELP:
	case VIEW_COLUMNS:
	case VIEW_SORT:
	case VIEW_FILE_SORT:
		return view_menu_key(v, key);
	case VIEW_FILES:
		return view_files_key(v, key);
	case VIEW_HOLDERS:
		return view_holders_key(v, key);
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
