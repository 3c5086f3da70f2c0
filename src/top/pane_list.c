// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The list of processes or groups. The cursor belongs to a row, not to a line: it stays on that row
 * while others come and go. Keys that top and htop have do the same here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "top/head.h"
#include "top/panes.h"
#include "write/format.h"

static struct list_pane *list_of(struct pane *p)
{
	return (struct list_pane *)p;
}

/* ---- rows ---- */

static void list_place(struct pane *p)
{
	const struct shared *v = p->shared;
	/* Headings from 3 lines on, the total from 4. */
	unsigned around = head_lines(v, v->set.low_head) + (v->height >= 3) + (v->height >= 4) +
			  shared_last_line(v);

	for (int line = HEAD_COLLECTION; line <= HEAD_TIMELINE; line++)
		around += head_has(v, (enum head_line)line);
	cursor_place(&p->cursor, v->rows.count, v->height > around ? v->height - around : 1);
}

static void list_moved(struct pane *p)
{
	listing_hold(&p->shared->rows);
}

static struct row_id id_at(const void *rows, size_t i)
{
	const struct listing *list = rows;

	return listing_id(list, list->item[i].process);
}

/* The row is gone: the one in its place is held. */
static void lose_row(struct list_pane *l)
{
	struct shared *v = l->pane.shared;
	struct cursor *c = &l->pane.cursor;
	const char *why = v->set.tree && l->folds.count ? "gone, or folded" : "gone";

	if (c->follow && c->id.owner)
		show_message(v, "%d is %s", (pid_t)c->id.owner, why);
	else if (c->follow)
		show_message(v, "%s is %s", l->followed, why);
	c->follow = false;
	if (!c->loyal)
		listing_hold(&v->rows);
}

static void record_history(struct list_pane *l)
{
	struct listing *rows = &l->pane.shared->rows;
	const struct process *row = listing_process(rows);
	struct cursor *c = &l->pane.cursor;
	bool same = row && row_id_same(listing_id(rows, row), c->id);

	if (!row || (c->held && !same))
		return;
	/* Not held: the first row, which may be another one than before. */
	if (!same)
		history_clear(&rows->history);
	c->id = listing_id(rows, row);
	history_add(&rows->history, rows->r->snapshot->time_ms, process_has(row, COUNTER_PSS_SWAP),
		    row->value[COUNTER_PSS_SWAP]);
}

void list_set_rows(struct list_pane *l, const struct result *r, const struct row *rows,
		   size_t count, bool tick)
{
	struct listing *to = &l->pane.shared->rows;
	struct cursor *c = &l->pane.cursor;

	if (to->r && l->kind != r->group) {
		cursor_reset(c);
		c->follow = false;
	}
	l->kind = r->group;
	to->r = r;
	if (l->counted != (r->totals.have & LIST_COUNTED)) {
		l->counted = r->totals.have & LIST_COUNTED;
		list_columns_changed(l);
	}
	to->item = rows;
	to->count = count;
	if (l->opened.leaving) {
		c->held = c->show = true;
		c->id = l->opened.id;
		c->first = l->opened.first;
		l->opened.leaving = false;
	}
	if (tick)
		folds_prune(&l->folds, r->snapshot);
	if (!cursor_restore(c, count, id_at, to))
		lose_row(l);
	if (tick)
		record_history(l);
	list_place(&l->pane);
}

static bool text_has(const char *text, const char *part)
{
	return text && strcasestr(text, part);
}

static bool list_matches(const struct pane *p, size_t row, const char *text)
{
	const struct listing *list = &p->shared->rows;
	const struct process *process = list->item[row].process;

	return text_has(process->name, text) || text_has(process->cmdline, text) ||
	       (list->r->group && text_has(list->r->group->group(process), text));
}

/* ---- the processes of a group ---- */

/* Forgets the group: all processes are shown again. */
static void forget_group(struct list_pane *l)
{
	group_id_done(&l->opened.group);
}

void list_done(struct list_pane *l)
{
	folds_done(&l->folds);
	forget_group(l);
}

/* Rows of another kind, as the settings say. */
static void begin_kind(struct list_pane *l)
{
	l->pane.shared->set.tree = false;
	l->left = 0;
	list_columns_changed(l);
}

/* Shows the processes of the group at the cursor; of a process the details. */
static unsigned enter(struct pane *p)
{
	struct list_pane *l = list_of(p);
	struct view_settings *set = &p->shared->set;
	const struct process *row = listing_process(&p->shared->rows);
	struct group_id group;

	if (!row || !l->kind || !set->group)
		return PANE_OPEN(PANE_DETAIL);
	if (group_id_of(l->kind, row, &group) < 0) {
		group_id_done(&group);
		return show_message(p->shared, "out of memory");
	}
	forget_group(l);
	l->opened = (struct opened_group){.group = group,
					  .id = listing_id(&p->shared->rows, row),
					  .order = set->order,
					  .first = p->cursor.first};
	/* Processes have no counters of memory cgroups to be sorted by. */
	if (process_list_misplaced(&set->order.keys, NULL))
		set->order.keys = (struct field_list){.item = {process_field("pss")}, .count = 1};
	set->group = NULL;
	p->cursor.follow = false;
	begin_kind(l);
	return VIEW_ASK_FILTER;
}

/* Shows the groups again, as they were. */
static unsigned leave_group(struct pane *p)
{
	struct list_pane *l = list_of(p);

	if (!l->opened.group.key)
		return PANE_REFUSE;
	p->shared->set.group = l->opened.group.key;
	p->shared->set.order = l->opened.order;
	p->cursor.follow = false;
	l->opened.leaving = true;
	forget_group(l);
	begin_kind(l);
	return VIEW_ASK_FILTER;
}

/* From groups back to the processes of all of them. */
static unsigned leave_groups(struct pane *p)
{
	p->shared->set.group = NULL;
	begin_kind(list_of(p));
	return VIEW_ASK_ROWS;
}

static unsigned group_next(struct pane *p)
{
	/* Not cmdline: most command lines belong to one process. */
	static const char *const key[] = {"name", "user",      "unit",	 "container",
					  "pod",  "namespace", "cgroup", "app"};
	struct list_pane *l = list_of(p);
	struct view_settings *set = &p->shared->set;
	unsigned ask = l->opened.group.key ? VIEW_ASK_FILTER : VIEW_ASK_ROWS;
	size_t at = 0;

	/* From the processes of a group on to the next kind of groups. */
	if (l->opened.group.key)
		set->group = l->opened.group.key;
	forget_group(l);
	while (set->group && at < ARRAY_SIZE(key) && strcmp(key[at], set->group->key) != 0)
		at++;
	at += set->group != NULL;
	set->group = at < ARRAY_SIZE(key) ? process_field(key[at]) : NULL;
	if (set->group)
		list_columns_of_group(set);
	begin_kind(l);
	return ask;
}

/* ---- how rows are made and sorted ---- */

static unsigned sort_by(struct pane *p, const struct field *c)
{
	p->shared->set.order.keys = order_keys(c, true);
	p->cursor.show = true;
	list_columns_changed(list_of(p));
	return VIEW_ASK_ROWS;
}

static unsigned sort_key(struct pane *p)
{
	static const char *const by[] = {
		['M'] = "pss", ['P'] = "pss", ['N'] = "pid", ['S'] = "swap_pss", ['H'] = "grown_h"};

	return sort_by(p, process_field(by[p->shared->key]));
}

/* Sorts by the visible column to the left or right of the sort column. */
static unsigned sort_beside(struct pane *p)
{
	const struct field_list *list = &list_of(p)->fitting;
	bool left = p->shared->key == '<';
	size_t at = 0;

	if (!list->count)
		return 0;
	while (at < list->count && list->item[at] != p->shared->set.order.keys.item[0])
		at++;
	if (at == list->count)
		at = left ? list->count - 1 : 0;
	else
		at = (at + (left ? list->count - 1 : 1)) % list->count;
	return sort_by(p, list->item[at]);
}

/* Switches on or off what a key stands for. */
static unsigned flip(struct pane *p)
{
	struct view_settings *set = &p->shared->set;
	bool *is = p->shared->key == 'c'				 ? &set->cmdline
		   : p->shared->key == 'm'				 ? &set->low_head
		   : p->shared->key == 't' || p->shared->key == TOP_F(5) ? &set->tree
									 : &set->order.reverse;

	*is = !*is;
	if (is == &set->tree)
		set->group = NULL;
	p->cursor.show |= is == &set->tree || is == &set->low_head;
	list_columns_changed(list_of(p));
	return is == &set->low_head ? 0 : VIEW_ASK_ROWS;
}

static unsigned changes_next(struct pane *p)
{
	struct view_settings *set = &p->shared->set;

	set->changes = set->changes == CHANGES_START ? CHANGES_NONE : set->changes + 1;
	if (!set->changes)
		set->only_changed = false;
	list_columns_changed(list_of(p));
	return VIEW_ASK_CHANGES | VIEW_ASK_ROWS;
}

static unsigned only_changed(struct pane *p)
{
	struct view_settings *set = &p->shared->set;

	set->only_changed = !set->only_changed;
	return set->only_changed && !set->changes ? changes_next(p) : VIEW_ASK_ROWS;
}

static unsigned scroll_columns(struct pane *p)
{
	struct list_pane *l = list_of(p);

	if (p->shared->key == TOP_RIGHT)
		l->left += l->fitting.count > 1;
	else
		l->left -= l->left > 0;
	list_columns_changed(l);
	return 0;
}

static unsigned follow_switch(struct pane *p)
{
	const struct process *row = listing_process(&p->shared->rows);

	if (!row)
		return 0;
	p->cursor.follow = !p->cursor.follow;
	p->cursor.show = true;
	snprintf(list_of(p)->followed, sizeof(list_of(p)->followed), "%s",
		 listing_text(&p->shared->rows, row));
	listing_hold(&p->shared->rows);
	return 0;
}

/*
 * Escape ends following, else leaves the processes of a group, else clears filters, else leaves the
 * groups, else returns to the first row.
 */
static unsigned escape(struct pane *p)
{
	struct view_settings *set = &p->shared->set;

	if (p->cursor.follow) {
		p->cursor.follow = false;
	} else if (list_of(p)->opened.group.key) {
		return leave_group(p);
	} else if (*set->filter || *set->user) {
		*set->filter = *set->user = '\0';
		return VIEW_ASK_FILTER;
	} else if (set->group) {
		return leave_groups(p);
	} else {
		cursor_reset(&p->cursor);
	}
	return 0;
}

/* ---- the interval, and folds of the tree, which have the same keys ---- */

static unsigned interval_step(struct pane *p, bool longer)
{
	static const unsigned steps[] = {100,	  200,	   500,	     1000,     2000,	 3000,
					 5000,	  10000,   30000,    60000,    300000,	 600000,
					 1800000, 3600000, 10800000, 21600000, 43200000, 86400000};
	unsigned now = p->shared->set.interval_ms, next = now;

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		if (longer && steps[i] > now) {
			next = steps[i];
			break;
		}
		if (!longer && steps[i] < now)
			next = steps[i];
	}
	if (next == now)
		return show_message(p->shared, longer ? "the interval is at most 86,400 s"
						      : "the interval is at least 0.1 s");
	p->shared->set.interval_ms = next;
	return VIEW_ASK_INTERVAL;
}

static unsigned fold_row(struct pane *p, bool fold)
{
	struct folds *folds = &list_of(p)->folds;
	const struct row *at = listing_row(&p->shared->rows);
	const struct process *row = at ? at->process : NULL;
	bool folded = row && folds_has(folds, row);

	if (!row)
		return 0;
	if (fold && (folded || at->procs < 2))
		return show_message(p->shared,
				    folded ? "%d is folded" : "%d has no processes below it",
				    row->pid);
	if (!fold && !folded)
		return show_message(p->shared, "%d is not folded", row->pid);
	listing_hold(&p->shared->rows);
	p->cursor.show = true;
	if (!fold)
		folds_remove(folds, row);
	else if (folds_add(folds, row) < 0)
		show_message(p->shared, "out of memory");
	return VIEW_ASK_ROWS;
}

static unsigned plus(struct pane *p)
{
	return p->shared->set.tree ? fold_row(p, false) : interval_step(p, true);
}

static unsigned minus(struct pane *p)
{
	return p->shared->set.tree ? fold_row(p, true) : interval_step(p, false);
}

/* Opens all rows, or folds all if none is folded. */
static unsigned fold_all(struct pane *p)
{
	struct folds *folds = &list_of(p)->folds;
	const struct listing *rows = &p->shared->rows;
	bool any = folds->count;

	if (!p->shared->set.tree)
		return PANE_REFUSE;
	folds_done(folds);
	for (size_t i = 0; !any && i < rows->count; i++) {
		if (rows->item[i].procs > 1 && folds_add(folds, rows->item[i].process) < 0)
			show_message(p->shared, "out of memory");
	}
	p->cursor.show = true;
	return VIEW_ASK_ROWS;
}

/* ---- moments of a recording ---- */

static unsigned go(struct pane *p)
{
	static const char keys[] = "[]{}eE";
	static const struct view_go to[] = {{GO_MINUTES, -1, ""},   {GO_MINUTES, 1, ""},
					    {GO_MINUTES, -10, ""},  {GO_MINUTES, 10, ""},
					    {GO_NEXT_EVENT, 0, ""}, {GO_PREVIOUS_EVENT, 0, ""}};

	p->shared->go = to[strchr(keys, p->shared->key) - keys];
	return VIEW_ASK_GO;
}

static unsigned step(struct pane *p)
{
	return p->shared->key == '.' ? VIEW_ASK_FORWARD : VIEW_ASK_BACK;
}

/* As the interval says, as fast as it was, ten times, a hundred times. */
static unsigned speed_next(struct pane *p)
{
	struct view_settings *set = &p->shared->set;

	set->speed = !set->speed ? 1 : set->speed < 100 ? 10 * set->speed : 0;
	set->paused = false;
	return VIEW_ASK_INTERVAL;
}

static unsigned time_done(struct pane *p, const char *text)
{
	p->shared->go.where = GO_TIME;
	snprintf(p->shared->go.time, sizeof(p->shared->go.time), "%s", text);
	return *text ? VIEW_ASK_GO : 0;
}

static const struct prompt_kind time_prompt = {.label = "time (03:14, -10m, event:1): ",
					       .done = time_done};

/* ---- what is typed ---- */

static char *filter_text(struct pane *p)
{
	return p->shared->set.filter;
}

static char *user_text(struct pane *p)
{
	return p->shared->set.user;
}

/* Seconds like "1" or "0.5". */
static unsigned interval_done(struct pane *p, const char *text)
{
	double seconds;
	int end = 0;

	if (!*text)
		return 0;
	if (strspn(text, "0123456789.") != strlen(text) ||
	    sscanf(text, "%lf%n", &seconds, &end) != 1 || text[end] ||
	    !(seconds >= 0.1 && seconds <= 86400))
		return show_message(p->shared, "%s: not a number of seconds from 0.1 to 86,400",
				    text);
	p->shared->set.interval_ms = (unsigned)(seconds * 1000 + 0.5);
	return VIEW_ASK_INTERVAL;
}

static const struct prompt_kind filter_prompt = {.label = "filter (regular expression): ",
						 .text = filter_text,
						 .ask = VIEW_ASK_FILTER,
						 .at_once = true};
static const struct prompt_kind user_prompt = {
	.label = "users (names or uids): ", .text = user_text, .ask = VIEW_ASK_FILTER};
static const struct prompt_kind interval_prompt = {.label = "interval in seconds: ",
						   .done = interval_done};

/* ---- keys ---- */

#define OF_RECORDING                                                                               \
	.replays = true, .does = "goes to another snapshot of a recording",                        \
	.where = "(top --replay FILE)"

static const struct key_use list_keys[] = {
	{{'/', TOP_F(3)}, .prompt = &search_prompt, .does = "searches"},
	{{'f', TOP_F(4), '\\'}, .prompt = &filter_prompt, .does = "filters"},
	{{'u'}, .prompt = &user_prompt, .does = "chooses users"},
	{{'d'}, .prompt = &interval_prompt, .does = "sets the interval"},
	{{'s', TOP_F(6)}, .menu = &list_sort_menu, .does = "chooses the sort column"},
	{{'o', TOP_F(2)}, .menu = &list_columns_menu, .does = "chooses columns"},
	{{'<'}, sort_beside, .does = "sorts by the column to the left"},
	{{'>'}, sort_beside, .does = "sorts by the column to the right"},
	{{'M', 'P'}, sort_key, .does = "sorts by PSS"},
	{{'S'}, sort_key, .does = "sorts by swap"},
	{{'H'}, sort_key, .does = "sorts by growth in an hour"},
	{{'N'}, sort_key, .does = "sorts by PID"},
	{{'r', 'I'}, flip, .does = "reverses the order"},
	{{'g'}, group_next, .does = "makes groups"},
	{{'t', TOP_F(5)}, flip, .does = "shows the tree"},
	{{'x'}, changes_next, .does = "shows changes"},
	{{'n'}, only_changed, .does = "shows only rows that changed"},
	{{'c'}, flip, .does = "shows command lines"},
	{{'m'}, flip, .does = "shows less or more of RAM"},
	{{'F'}, follow_switch, .does = "follows a row"},
	{{'i'}, .ask = PANE_OPEN(PANE_DETAIL), .does = "shows details"},
	{{'w'}, .ask = PANE_OPEN(PANE_GROWTH), .does = "shows which code makes a process grow"},
	{{'l'}, .ask = PANE_OPEN(PANE_FILES), .does = "shows the files"},
	{{'R'}, .ask = PANE_OPEN(PANE_RAM), .does = "shows the RAM of the machine by class"},
	{{'b'}, .does = "shows exact bytes"},
	{{'p', 'Z'}, .does = "pauses"},
	{{TOP_RIGHT}, scroll_columns, .does = "scrolls the columns"},
	{{TOP_LEFT}, scroll_columns},
	{{TOP_ENTER}, enter},
	{{TOP_ESCAPE}, escape},
	{{'+', '='}, plus},
	{{'-'}, minus},
	{{'*'}, fold_all, .does = "folds and opens the rows of a tree", .where = "(t shows it)"},
	{{TOP_BACKSPACE, TOP_CTRL('h')},
	 leave_group,
	 .does = "leads from the processes of a group to the groups",
	 .where = ""},
	{{'.', ','}, step, OF_RECORDING},
	{{'[', ']', '{'}, go, OF_RECORDING},
	{{'}', 'e', 'E'}, go, OF_RECORDING},
	{{'@'}, .prompt = &time_prompt, OF_RECORDING},
	{{'X'},
	 speed_next,
	 .replays = true,
	 .does = "plays a recording faster",
	 .where = "(top --replay FILE)"},
	{{0}},
};

/* ---- drawing ---- */

static void put_order(const struct list_pane *l, struct line *to)
{
	const struct shared *v = l->pane.shared;
	const struct order *o = &v->set.order;
	const struct cursor *c = &l->pane.cursor;
	const struct group_id *opened = &l->opened.group;

	line_printf(to, "by ");
	for (size_t i = 0; i < o->keys.count; i++)
		line_printf(to, "%s%s", i ? "," : "", o->keys.item[i]->key);
	if (o->reverse)
		line_printf(to, " reversed");
	if (v->set.group)
		line_printf(to, "  grouped by %s", v->set.group->key);
	if (opened->key && opened->text)
		head_put_text(to, opened->key->key, opened->text);
	else if (opened->key)
		line_printf(to, "  no %s", opened->key->key);
	if (v->set.tree)
		line_printf(to, "  tree");
	head_put_text(to, "filter", v->set.filter);
	head_put_text(to, "user", v->set.user);
	if (v->set.changes)
		line_printf(to, v->set.changes == CHANGES_LAST ? "  changes per second"
							       : "  changes since start");
	if (v->set.only_changed)
		line_printf(to, "  only changed");
	if (c->follow && c->id.owner)
		line_printf(to, "  following %d", (pid_t)c->id.owner);
	if (c->follow && !c->id.owner) {
		line_printf(to, "  following %s ", l->kind ? l->kind->key : "");
		line_text(to, l->followed, 30);
	}
}

/* The state of the list and the interval. */
static void draw_state(const struct list_pane *l, struct screen *s)
{
	const struct shared *v = l->pane.shared;
	const struct snapshot *snapshot = v->rows.r->snapshot;

	head_put_paused(v, &s->pen);
	if (v->facts.frames)
		line_printf(&s->pen, "snapshot %u of %u  ", v->facts.frame, v->facts.frames);
	put_order(l, &s->pen);
	if (v->facts.frames && v->set.speed == 1)
		line_printf(&s->pen, "  as fast as it was");
	else if (v->facts.frames && v->set.speed)
		line_printf(&s->pen, "  %u times as fast", v->set.speed);
	else
		line_printf(&s->pen, "  every %s", span_text(v->set.interval_ms / 1e3).text);
	if (snapshot_is_cut(snapshot) && !snapshot->collection.not_seen_known)
		line_printf(&s->pen, "  incomplete: some not read");
	else if (snapshot->collection.not_seen)
		line_printf(&s->pen, "  incomplete: %u not seen", snapshot->collection.not_seen);
	if (snapshot->collection.earlier)
		line_printf(&s->pen, "  %u of the snapshot before", snapshot->collection.earlier);
	if (v->facts.missed)
		line_printf(&s->pen, ", %llu missed", (unsigned long long)v->facts.missed);
	screen_line(s, LOOK_PLAIN);
}

static const char *hints(const struct list_pane *l)
{
	const struct view_settings *set = &l->pane.shared->set;

	if (set->group)
		return "? help  q quit  Enter processes  g next groups  / search  f filter  s sort  "
		       "i details  t tree  o columns  x changes  F follow";
	if (set->tree)
		return "? help  q quit  - fold  + open  * all  t list  / search  f filter  s sort  "
		       "Enter details  F follow  Space pause";
	if (l->opened.group.key)
		return "? help  Esc groups  q quit  / search  f filter  s sort  t tree  "
		       "Enter details  x changes  F follow  Space pause";
	return "? help  q quit  / search  f filter  s sort  g groups  t tree  o columns  x changes  "
	       "Enter details  w growth  l files  F follow  Space pause";
}

/* Puts the details of the row at the cursor beside the headings and the rows. */
static void put_details(struct list_pane *l, struct screen *beside, struct screen *s)
{
	struct shared *v = l->pane.shared;

	if (!v->beside || !listing_row(&v->rows))
		return;
	screen_begin(beside, v->beside - SCREEN_RULE, (unsigned)l->pane.cursor.page + 1);
	detail_draw_beside(v, beside);
	screen_fill(beside, beside->height);
	screen_put_beside(s, strbuf_str(&beside->text), v->width - v->beside);
}

static const char *list_draw(struct pane *p, struct screen *s)
{
	struct list_pane *l = list_of(p);
	const struct shared *v = p->shared;
	const struct cursor *c = &p->cursor;
	struct table *t = &l->table;
	struct screen beside = {};

	list_place(p);
	t->r = v->rows.r;
	t->style = &v->style;
	t->rows = v->rows.item + c->first;
	t->row_count = cursor_shown(c);
	t->marked = v->set.order.keys.count ? v->set.order.keys.item[0] : NULL;
	table_place(t);
	grid_measure(&t->grid);
	list_columns_fit(l);
	head_draw(v, s, v->set.low_head, NULL);
	if (head_has(v, HEAD_COLLECTION))
		head_collection(v, s);
	if (head_has(v, HEAD_STATE))
		draw_state(l, s);
	if (head_has(v, HEAD_TIMELINE))
		head_timeline(v, s);
	put_details(l, &beside, s);
	pane_table(p, &t->grid, s);
	screen_end_beside(s);
	screen_done(&beside);
	return hints(l);
}

const struct pane_class list_class = {
	.keys = list_keys,
	.where = "in the list (Esc goes there)",
	.place = list_place,
	.moved = list_moved,
	.matches = list_matches,
	.draw = list_draw,
};
