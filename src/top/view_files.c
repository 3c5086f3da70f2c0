// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The files of the machine: large shared memory and tmpfs first, then all others, or groups of
 * them; and of one file, the processes that hold it. A recording has no files.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "render/format.h"
#include "top/view.h"

/* ---- rows ---- */

bool view_shows_files(const struct view *v)
{
	return v->mode == VIEW_FILES;
}

const struct cached_file *view_file(const struct view *v)
{
	const struct view_files *f = &v->files;

	return f->report && f->cursor < f->report->row_count ? f->report->rows[f->cursor] : NULL;
}

static struct file_id id_of(const struct view *v, const struct cached_file *file)
{
	if (v->files.report->group)
		return (struct file_id){.name = hash_text(HASH_START, file->name)};
	return (struct file_id){
		.mapping = file->mapping, .inode = file->inode, .generation = file->generation};
}

static bool same_id(struct file_id a, struct file_id b)
{
	return a.mapping == b.mapping && a.inode == b.inode && a.generation == b.generation &&
	       a.name == b.name;
}

static void hold(struct view *v)
{
	const struct cached_file *file = view_file(v);

	if (!file)
		return;
	v->files.id = id_of(v, file);
	v->files.held = true;
}

/* How many lines stand above the rows, headings included, and below them without the last one. */
static unsigned lines_above(const struct view *v)
{
	unsigned machine = view_head_lines(v);

	return (machine > 3 ? 4 : machine) + (v->height >= 3);
}

static unsigned lines_below(const struct view *v)
{
	unsigned lines = v->height >= 4;

	for (int i = 0; v->files.report && v->height >= 12 && i < FILE_ACCOUNTS; i++)
		lines += files_account_shown(v->files.report, (enum file_account)i);
	return lines;
}

static size_t rows_page(const struct view *v)
{
	unsigned around =
		lines_above(v) + lines_below(v) + (v->height >= 6 || v->prompt || *v->message);

	return v->height > around ? v->height - around : 1;
}

/* The window follows the cursor. */
static void place(struct view *v)
{
	struct view_files *f = &v->files;
	size_t page = rows_page(v), count = f->report ? f->report->row_count : 0;

	if (f->cursor >= count)
		f->cursor = count ? count - 1 : 0;
	if (f->cursor < f->scroll)
		f->scroll = f->cursor;
	if (f->cursor >= f->scroll + page)
		f->scroll = f->cursor - page + 1;
	if (f->scroll + page > count)
		f->scroll = count > page ? count - page : 0;
}

void view_set_files(struct view *v, const struct files_report *report, const char *why)
{
	struct view_files *f = &v->files;

	f->report = report;
	f->why = why;
	f->reading = false;
	for (size_t i = 0; report && f->held && i < report->row_count; i++) {
		if (!same_id(id_of(v, report->rows[i]), f->id))
			continue;
		f->cursor = i;
		break;
	}
	place(v);
	if (f->held)
		hold(v);
}

static void forget_holders(struct view_files *f)
{
	free(f->holder);
	free(f->label);
	free(f->mount);
	f->holder = NULL;
	f->label = f->mount = NULL;
	f->file = (struct cached_file){};
}

int view_set_holders(struct view *v, const struct cached_file *file)
{
	struct view_files *f = &v->files;
	char label[FILE_LABEL_MAX];

	forget_holders(f);
	f->file = *file;
	f->holder = calloc(file->holder_count + 1, sizeof(*f->holder));
	f->label = strdup(file_label(file, label));
	f->mount = file->mount ? strdup(file->mount) : NULL;
	f->holder_scroll = 0;
	if (!f->holder || !f->label || (file->mount && !f->mount)) {
		forget_holders(f);
		return -ENOMEM;
	}
	if (file->holder_count)
		memcpy(f->holder, file->holder, file->holder_count * sizeof(*f->holder));
	/* The type of the file system is borrowed from the set, which is read again later. */
	f->file.holder = f->holder;
	f->file.name = f->file.path = f->file.mount = f->file.fs = f->file.label = NULL;
	v->mode = VIEW_HOLDERS;
	return 0;
}

void view_files_done(struct view *v)
{
	forget_holders(&v->files);
	files_table_done(&v->files.table);
	free(v->files.set.within_name);
	v->files.set.within_name = NULL;
}

/* ---- keys ---- */

unsigned view_files_open(struct view *v)
{
	if (v->facts.frames) {
		view_set_message(v, "files are not in a recording: they are shown of this machine");
		return 0;
	}
	v->mode = VIEW_FILES;
	v->files.reading = !v->files.why;
	return VIEW_ASK_FILES;
}

static unsigned leave(struct view *v)
{
	v->mode = VIEW_LIST;
	v->moved = true;
	v->files.report = NULL;
	return VIEW_ASK_FILES;
}

/* Other rows: the cursor is on the first one. */
static unsigned begin_rows(struct view *v)
{
	v->files.cursor = v->files.scroll = 0;
	v->files.held = false;
	return VIEW_ASK_FILE_ROWS;
}

static void within_end(struct file_settings *set)
{
	free(set->within_name);
	set->within_name = NULL;
	set->within = FILE_GROUP_NONE;
}

static void set_group(struct file_settings *set, enum file_group group)
{
	set->group = group;
	if (set->sort >= 0 && !file_column_sorts(set->sort, group != FILE_GROUP_NONE))
		set->sort = -1;
}

/* From the files of a group on to the next kind of groups. */
static unsigned group_next(struct view *v)
{
	struct file_settings *set = &v->files.set;
	enum file_group now = set->within != FILE_GROUP_NONE ? set->within : set->group;

	within_end(set);
	set_group(set, now + 1 < FILE_GROUPS ? (enum file_group)(now + 1) : FILE_GROUP_NONE);
	return begin_rows(v);
}

/* Of a group its files, of a file its holders. */
static unsigned enter(struct view *v)
{
	struct file_settings *set = &v->files.set;
	const struct cached_file *file = view_file(v);

	if (!file)
		return 0;
	if (!v->files.report->group) {
		hold(v);
		return VIEW_ASK_HOLDERS;
	}
	within_end(set);
	set->within_name = strdup(file->name);
	if (!set->within_name) {
		view_set_message(v, "out of memory");
		return 0;
	}
	set->within = set->group;
	set_group(set, FILE_GROUP_NONE);
	return begin_rows(v);
}

/* Leads from the files of a group to the groups, with the cursor on the same one. */
static unsigned within_leave(struct view *v)
{
	struct file_settings *set = &v->files.set;

	v->files.id = (struct file_id){.name = hash_text(HASH_START, set->within_name)};
	v->files.held = true;
	set_group(set, set->within);
	within_end(set);
	return VIEW_ASK_FILE_ROWS;
}

static unsigned escape(struct view *v)
{
	if (v->files.set.within != FILE_GROUP_NONE)
		return within_leave(v);
	if (!*v->files.set.filter)
		return leave(v);
	*v->files.set.filter = '\0';
	return VIEW_ASK_FILE_ROWS;
}

static unsigned move(struct view *v, long by)
{
	struct view_files *f = &v->files;
	size_t count = f->report ? f->report->row_count : 0, last = count ? count - 1 : 0;

	if (by < 0)
		f->cursor = f->cursor > (size_t)-by ? f->cursor - (size_t)-by : 0;
	else
		f->cursor = last - f->cursor > (size_t)by ? f->cursor + (size_t)by : last;
	hold(v);
	place(v);
	return 0;
}

unsigned view_files_sort_by(struct view *v, int column)
{
	struct file_settings *set = &v->files.set;

	set->reverse = set->sort == column && !set->reverse;
	set->sort = column;
	return VIEW_ASK_FILE_ROWS;
}

size_t view_file_sorts(const struct view *v)
{
	size_t count = 1;

	for (int i = 0; i < FILE_COLUMNS; i++)
		count += i != FILE_COLUMN_SWAP_RAM &&
			 file_column_sorts(i, v->files.set.group != FILE_GROUP_NONE);
	return count;
}

int view_file_sort(const struct view *v, size_t i)
{
	for (int column = 0; i && column < FILE_COLUMNS; column++) {
		/* It is not read here. */
		if (column == FILE_COLUMN_SWAP_RAM ||
		    !file_column_sorts(column, v->files.set.group != FILE_GROUP_NONE))
			continue;
		if (--i == 0)
			return column;
	}
	return -1;
}

/* Sorts by the column to the left or right of the sort column. */
static unsigned sort_beside(struct view *v, int by)
{
	size_t count = view_file_sorts(v), at = 0;

	while (at + 1 < count && view_file_sort(v, at) != v->files.set.sort)
		at++;
	v->files.set.reverse = false;
	v->files.set.sort = view_file_sort(v, (at + count + (size_t)(by < 0 ? -1 : 1)) % count);
	return VIEW_ASK_FILE_ROWS;
}

bool view_files_search(struct view *v, const char *text, size_t from)
{
	size_t count = v->files.report ? v->files.report->row_count : 0;
	char label[FILE_LABEL_MAX];

	for (size_t k = 0; k < count; k++) {
		size_t i = (from + k) % count;

		if (!strcasestr(file_label(v->files.report->rows[i], label), text))
			continue;
		v->files.cursor = i;
		move(v, 0);
		return true;
	}
	return false;
}

static unsigned key_move(struct view *v, int key, bool *ret_known)
{
	long page = (long)rows_page(v),
	     all = v->files.report ? (long)v->files.report->row_count : 0;

	*ret_known = true;
	switch (key) {
	case TOP_UP:
	case 'k':
		return move(v, -1);
	case TOP_DOWN:
	case 'j':
		return move(v, 1);
	case TOP_PAGE_UP:
	case TOP_CTRL('b'):
		return move(v, -page);
	case TOP_PAGE_DOWN:
	case TOP_CTRL('f'):
		return move(v, page);
	case TOP_HOME:
		return move(v, -all);
	case TOP_END:
	case 'G':
		return move(v, all);
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
		view_menu_open(v, VIEW_FILE_SORT);
		return 0;
	case '<':
		return sort_beside(v, -1);
	case '>':
		return sort_beside(v, 1);
	case 'r':
	case 'I':
		v->files.set.reverse = !v->files.set.reverse;
		return VIEW_ASK_FILE_ROWS;
	case 'g':
		return group_next(v);
	case '/':
	case TOP_F(3):
		view_prompt_open(v, PROMPT_SEARCH);
		return 0;
	case 'f':
	case '\\':
	case TOP_F(4):
		view_prompt_open(v, PROMPT_FILTER);
		return 0;
	}
	*ret_known = false;
	return 0;
}

/* Keys that the files and the holders of one share with the list. */
static unsigned key_common(struct view *v, int key)
{
	switch (key) {
	case 'b':
		v->style.bytes = !v->style.bytes;
		view_columns_changed(v);
		return 0;
	}
	return view_key_anywhere(v, key);
}

unsigned view_files_key(struct view *v, int key)
{
	bool known = false;
	unsigned ask = key_move(v, key, &known);

	if (!known)
		ask = key_order(v, key, &known);
	if (known)
		return ask;
	switch (key) {
	case TOP_ENTER:
	case 'i':
		return enter(v);
	case TOP_ESCAPE:
		return escape(v);
	case TOP_BACKSPACE:
	case TOP_CTRL('h'):
		return v->files.set.within != FILE_GROUP_NONE ? within_leave(v) : leave(v);
	case 'l':
	case 'q':
	case TOP_F(10):
		return leave(v);
	}
	return key_common(v, key);
}

unsigned view_holders_key(struct view *v, int key)
{
	struct view_files *f = &v->files;
	size_t page = v->height / 2 + 1;

	switch (key) {
	case TOP_ESCAPE:
	case TOP_ENTER:
	case TOP_LEFT:
	case TOP_BACKSPACE:
	case TOP_CTRL('h'):
	case 'l':
	case 'q':
		v->mode = VIEW_FILES;
		return VIEW_ASK_FILES;
	case TOP_UP:
	case 'k':
		f->holder_scroll -= f->holder_scroll > 0;
		return 0;
	case TOP_DOWN:
	case 'j':
		f->holder_scroll++;
		return 0;
	case TOP_PAGE_UP:
		f->holder_scroll -= f->holder_scroll < page ? f->holder_scroll : page;
		return 0;
	case TOP_PAGE_DOWN:
		f->holder_scroll += page;
		return 0;
	case TOP_HOME:
		f->holder_scroll = 0;
		return 0;
	case 'm':
		return VIEW_ASK_HOLDERS;
	}
	return key_common(v, key);
}

/* ---- drawing ---- */

/* The state of the view, and when the files were read. */
static void draw_state(const struct view *v, struct screen *s)
{
	const struct view_files *f = &v->files;
	const struct file_settings *set = &f->set;
	struct line *l = &s->pen;
	char buf[FORMAT_MAX];

	if (v->set.paused) {
		l->attr = ATTR_REVERSE;
		line_printf(l, "paused");
		l->attr = ATTR_NORMAL;
		line_blanks(l, 2);
	}
	line_printf(l, "files %s%s",
		    set->sort >= 0		    ? "by "
		    : set->group != FILE_GROUP_NONE ? "by size"
						    : "shared memory first",
		    set->sort >= 0 ? file_column_header(set->sort) : "");
	if (set->reverse)
		line_printf(l, " reversed");
	if (set->group != FILE_GROUP_NONE)
		line_printf(l, "  groups of one %s", file_group_name(set->group));
	if (set->within != FILE_GROUP_NONE) {
		line_printf(l, "  %s ", file_group_name(set->within));
		line_text(l, set->within_name, 30);
	}
	if (*set->filter) {
		line_printf(l, "  filter ");
		line_text(l, set->filter, 30);
	}
	if (f->report && format_time(buf, f->time_ms, TIME_TABLE) > 19) {
		line_printf(l, "  read ");
		line_ascii(l, buf + 11, 8);
		line_printf(l, " in %u ms", (unsigned)((f->read_us + 500) / 1000));
		view_interval_put(l, (unsigned)(f->every_us / 1000));
	}
	screen_line(s, LOOK_PLAIN);
}

static void draw_table(struct view *v, struct screen *s)
{
	struct view_files *f = &v->files;
	struct files_report shown = *f->report;
	struct files_table *t = &f->table;
	struct table_style style = {
		.bytes = v->style.bytes, .header = true, .color = true, .width = s->width};
	size_t page = rows_page(v);

	shown.rows += f->scroll;
	shown.row_count -= f->scroll;
	if (shown.row_count > page)
		shown.row_count = page;
	shown.others_count = 0;
	t->r = &shown;
	t->style = &style;
	t->marked = f->set.sort;
	memset(&t->grid, 0, sizeof(t->grid));
	files_table_place(t);
	grid_measure(&t->grid);
	if (v->height >= 3) {
		s->pen.attr = ATTR_BOLD;
		grid_put_heading(&t->grid, &s->pen);
		screen_line(s, LOOK_HEADER);
	}
	for (size_t i = 0; i < shown.row_count; i++) {
		grid_put_row(&t->grid, &s->pen, i);
		screen_line(s, f->scroll + i == f->cursor ? LOOK_SELECTED : LOOK_PLAIN);
	}
	screen_fill(s, lines_above(v) + (unsigned)page);
	if (v->height < 4)
		return;
	s->pen.attr = ATTR_BOLD;
	grid_put_sums(&t->grid, &s->pen, GRID_TOTAL);
	if (!shown.row_count)
		line_printf(&s->pen, "no rows");
	else
		line_printf(&s->pen, "rows %zu to %zu of %zu", f->scroll + 1,
			    f->scroll + shown.row_count, f->report->row_count);
	screen_line(s, LOOK_PLAIN);
}

static void draw_accounts(const struct view *v, struct screen *s)
{
	const struct files_report *r = v->files.report;

	if (v->height < 12)
		return;
	for (int i = 0; i < FILE_ACCOUNTS; i++) {
		if (!files_account_shown(r, (enum file_account)i))
			continue;
		files_account_put(r, (enum file_account)i, v->style.bytes, &s->pen);
		screen_line(s, LOOK_PLAIN);
	}
}

/* Wraps the sentence at blanks. */
static void draw_why(struct screen *s, const char *why)
{
	size_t room = s->width > 8 ? s->width - 7 : 1, len = strlen(why), cut;

	line_printf(&s->pen, "files: ");
	while (len > room && s->count + 1 < s->height) {
		for (cut = room; cut && why[cut] != ' ';)
			cut--;
		if (!cut)
			break;
		line_text_part(&s->pen, why, cut, false);
		screen_line(s, LOOK_PLAIN);
		line_blanks(&s->pen, 7);
		why += cut + 1;
		len -= cut + 1;
	}
	line_text(&s->pen, why, 0);
	screen_line(s, LOOK_PLAIN);
}

void view_files_draw(struct view *v, struct screen *s)
{
	const struct view_files *f = &v->files;

	place(v);
	view_machine_draw(v, s);
	if (view_head_lines(v) > 3)
		draw_state(v, s);
	if (f->report) {
		draw_table(v, s);
		draw_accounts(v, s);
	} else {
		draw_why(s, f->why ? f->why : "reading…");
	}
	screen_fill(s, s->height - 1);
}

static void put_bytes(const struct view *v, struct line *l, const char *name, bool known,
		      uint64_t bytes)
{
	line_printf(l, "%s ", name);
	cell_put(l, cell_bytes(known, bytes), v->style.bytes);
	line_blanks(l, 2);
}

static void draw_facts(const struct view *v, struct screen *s)
{
	const struct cached_file *file = &v->files.file;
	char state[FILE_STATE_MAX];
	struct line *l = &s->pen;

	line_text(l, v->files.label, 0);
	screen_line(s, LOOK_HEADER);
	put_bytes(v, l, "in RAM", true, file->resident);
	put_bytes(v, l, "in swap", true, file->swapped);
	put_bytes(v, l, "size", !file->size_unknown, file->size);
	screen_line(s, LOOK_PLAIN);
	line_printf(l, "kind %s  device %u:%u  inode %llu", file_kind_name(file->kind),
		    FILE_MAJOR(file->device), FILE_MINOR(file->device),
		    (unsigned long long)file->inode);
	if (*file_state(file, state))
		line_printf(l, "  %s", state);
	if (v->files.mount) {
		line_printf(l, "  mount ");
		line_text(l, v->files.mount, 0);
	}
	screen_line(s, LOOK_PLAIN);
}

void view_holders_draw(struct view *v, struct screen *s)
{
	struct view_files *f = &v->files;
	struct line *l = &s->pen;
	size_t room, count = f->file.holder_count;

	draw_facts(v, s);
	if (!f->file.holders_known)
		line_printf(l, "holders: too many mappings to be read");
	else if (!count)
		line_printf(l, "no process of this pid namespace has it open or maps it");
	else
		line_printf(l, "%zu process%s it open or map%s it", count,
			    count == 1 ? " has" : "es have", count == 1 ? "s" : "");
	screen_line(s, LOOK_PLAIN);
	room = s->height - 1 > s->count ? s->height - 1 - s->count : 0;
	if (f->holder_scroll + room > count)
		f->holder_scroll = count > room ? count - room : 0;
	for (size_t i = 0; i < room && f->holder_scroll + i < count; i++) {
		const struct file_holder *holder = &f->holder[f->holder_scroll + i];

		line_printf(l, "%7d  ", holder->pid);
		line_text(l, holder->comm, 0);
		screen_line(s, LOOK_PLAIN);
	}
	screen_fill(s, s->height - 1);
}
