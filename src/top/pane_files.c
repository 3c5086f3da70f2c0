// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The files of the machine: large shared memory and tmpfs first, then all others, or groups of
 * them. A recording has no files.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "fields/file_said.h"
#include "top/head.h"
#include "top/panes.h"
#include "write/format.h"
#include "write/text.h"

static struct files_pane *files_of(struct pane *p)
{
	return (struct files_pane *)p;
}

/* ---- rows ---- */

const struct cached_file *files_row(const struct files_pane *f)
{
	size_t at = f->pane.cursor.at;

	return f->report && at < f->report->row_count ? f->report->rows[at] : NULL;
}

static struct row_id id_at(const void *rows, size_t i)
{
	const struct files_report *r = rows;

	if (r->group)
		return (struct row_id){.key = hash_text(HASH_START, r->rows[i]->name)};
	/* The kernel uses the memory of a mapping again. */
	return (struct row_id){.owner = r->rows[i]->mapping,
			       .key = r->rows[i]->inode ^ (uint64_t)r->rows[i]->generation << 32};
}

static void files_moved(struct pane *p)
{
	const struct files_pane *f = files_of(p);

	if (!files_row(f))
		return;
	p->cursor.id = id_at(f->report, p->cursor.at);
	p->cursor.held = true;
}

/* Lines that compare the sums of the files with the kernel's. */
static unsigned accounts(const struct files_pane *f)
{
	if (!f->report || f->pane.shared->height < 12)
		return 0;
	return FILE_ACCOUNTS - !f->report->account[FILE_IN_HUGETLB].files;
}

static void files_place(struct pane *p)
{
	const struct files_pane *f = files_of(p);
	const struct shared *v = p->shared;
	unsigned around = head_lines(v, true) + head_has(v, HEAD_STATE);

	/* Headings from 3 lines on, the total from 4. */
	around += (v->height >= 3) + (v->height >= 4) + accounts(f) + shared_last_line(v);
	cursor_place(&p->cursor, f->report ? f->report->row_count : 0,
		     v->height > around ? v->height - around : 1);
}

void files_set(struct files_pane *f, const struct files_report *report, const char *why)
{
	struct pane *p = &f->pane;

	f->report = report;
	f->why = why;
	if (report && !cursor_restore(&p->cursor, report->row_count, id_at, report))
		files_moved(p);
	files_place(p);
}

void files_done(struct files_pane *f)
{
	files_table_done(&f->table);
	free(f->set.within_name);
	f->set.within_name = NULL;
}

static bool files_matches(const struct pane *p, size_t row, const char *text)
{
	char label[FILE_LABEL_MAX];

	return strcasestr(file_label(((const struct files_pane *)p)->report->rows[row], label),
			  text);
}

/* ---- keys ---- */

static unsigned files_open(struct pane *p)
{
	if (p->shared->facts.frames)
		return PANE_REFUSE |
		       show_message(p->shared, "files are not in a recording: they are shown "
					       "of this machine");
	p->cursor.follow = true;
	return VIEW_ASK_FILES;
}

static unsigned files_close(struct pane *p)
{
	files_of(p)->report = NULL;
	return VIEW_ASK_FILES;
}

/* Other rows: the cursor is on the first one. */
static unsigned begin_rows(struct pane *p)
{
	cursor_reset(&p->cursor);
	return VIEW_ASK_FILE_ROWS;
}

static void forget_group(struct file_settings *set)
{
	free(set->within_name);
	set->within_name = NULL;
	set->within = FILE_GROUP_NONE;
}

static void set_group(struct file_settings *set, enum file_group group)
{
	set->group = group;
	if (set->sort && !fields_find(file_columns(group != FILE_GROUP_NONE), set->sort->key,
				      strlen(set->sort->key)))
		set->sort = NULL;
}

/* From the files of a group on to the next kind of groups. */
static unsigned group_next(struct pane *p)
{
	struct file_settings *set = &files_of(p)->set;
	enum file_group now = set->within != FILE_GROUP_NONE ? set->within : set->group;

	forget_group(set);
	set_group(set, now + 1 < FILE_GROUPS ? (enum file_group)(now + 1) : FILE_GROUP_NONE);
	return begin_rows(p);
}

/* Of a group its files, of a file its holders. */
static unsigned enter(struct pane *p)
{
	struct files_pane *f = files_of(p);
	const struct cached_file *file = files_row(f);

	if (!file)
		return 0;
	if (!f->report->group) {
		files_moved(p);
		return VIEW_ASK_HOLDERS;
	}
	forget_group(&f->set);
	f->set.within_name = strdup(file->name);
	if (!f->set.within_name)
		return show_message(p->shared, "out of memory");
	f->set.within = f->set.group;
	set_group(&f->set, FILE_GROUP_NONE);
	return begin_rows(p);
}

/* Leads from the files of a group to the groups, with the cursor on the same one. */
static unsigned leave(struct pane *p)
{
	struct file_settings *set = &files_of(p)->set;

	if (set->within == FILE_GROUP_NONE)
		return PANE_CLOSE;
	p->cursor.id = (struct row_id){.key = hash_text(HASH_START, set->within_name)};
	p->cursor.held = true;
	set_group(set, set->within);
	forget_group(set);
	return VIEW_ASK_FILE_ROWS;
}

static unsigned escape(struct pane *p)
{
	struct file_settings *set = &files_of(p)->set;

	if (set->within != FILE_GROUP_NONE || !*set->filter)
		return leave(p);
	*set->filter = '\0';
	return VIEW_ASK_FILE_ROWS;
}

static unsigned reverse(struct pane *p)
{
	files_of(p)->set.reverse = !files_of(p)->set.reverse;
	return VIEW_ASK_FILE_ROWS;
}

static char *filter_text(struct pane *p)
{
	return files_of(p)->set.filter;
}

static const struct prompt_kind filter_prompt = {.label = "filter (regular expression): ",
						 .text = filter_text,
						 .ask = VIEW_ASK_FILE_ROWS,
						 .at_once = true};

/* ---- the sort column ---- */

/* The column of line i of the menu; NULL: by size. What is on request is not read here. */
static const struct field *sort_column(const struct pane *p, size_t i)
{
	struct field_list usual;

	file_list_usual(&usual, ((const struct files_pane *)p)->set.group != FILE_GROUP_NONE);
	return i && i <= usual.count ? usual.item[i - 1] : NULL;
}

static size_t sort_count(const struct pane *p)
{
	size_t count = 1;

	while (sort_column(p, count))
		count++;
	return count;
}

static size_t sort_begin(const struct pane *p)
{
	size_t i = 0;

	while (i + 1 < sort_count(p) &&
	       sort_column(p, i) != ((const struct files_pane *)p)->set.sort)
		i++;
	return i;
}

/* Sorts by the column to the left or right of the sort column. */
static unsigned sort_beside(struct pane *p)
{
	struct file_settings *set = &files_of(p)->set;
	size_t count = sort_count(p), by = p->shared->key == '<' ? count - 1 : 1;

	set->reverse = false;
	set->sort = sort_column(p, (sort_begin(p) + by) % count);
	return VIEW_ASK_FILE_ROWS;
}

static void sort_line(const struct pane *p, size_t i, struct line *l)
{
	const struct field *column = sort_column(p, i);
	bool groups = ((const struct files_pane *)p)->set.group != FILE_GROUP_NONE;

	line_printf(l, "%-16s %s", column ? column->heading : "-",
		    column   ? column->help
		    : groups ? "by bytes in RAM and in swap"
			     : "large shared memory first, by bytes in RAM and in swap");
}

static unsigned choose_sort(struct pane *p, size_t i)
{
	struct file_settings *set = &files_of(p)->set;
	const struct field *column = sort_column(p, i);

	set->reverse = set->sort == column && !set->reverse;
	set->sort = column;
	return VIEW_ASK_FILE_ROWS | PANE_CLOSE;
}

static const struct menu sort_menu = {
	.title = "Sort files by",
	.hints = "Esc back  Enter sort, again: reverse",
	.count = sort_count,
	.line = sort_line,
	.begin = sort_begin,
	.choose = choose_sort,
};

static const struct key_use keys[] = {
	{{'/', TOP_F(3)}, .prompt = &search_prompt},
	{{'f', TOP_F(4), '\\'}, .prompt = &filter_prompt},
	{{'s', TOP_F(6)}, .menu = &sort_menu},
	{{'<', '>'}, sort_beside},
	{{'r', 'I'}, reverse},
	{{'g'}, group_next},
	{{TOP_ENTER, 'i'}, enter},
	{{TOP_ESCAPE}, escape},
	{{TOP_BACKSPACE, TOP_CTRL('h')}, leave},
	{{'l'}, .ask = PANE_CLOSE},
	{{0}},
};

/* ---- drawing ---- */

/* The state of the list, and when the files were read. */
static void draw_state(const struct files_pane *f, struct screen *s)
{
	const struct file_settings *set = &f->set;
	struct line *l = &s->pen;

	head_put_paused(f->pane.shared, l);
	line_printf(l, "files %s%s",
		    set->sort			    ? "by "
		    : set->group != FILE_GROUP_NONE ? "by size"
						    : "shared memory first",
		    set->sort ? set->sort->heading : "");
	if (set->reverse)
		line_printf(l, " reversed");
	if (set->group != FILE_GROUP_NONE)
		line_printf(l, "  grouped by %s", file_group_name(set->group));
	if (set->within != FILE_GROUP_NONE)
		head_put_text(l, file_group_name(set->within), set->within_name);
	head_put_text(l, "filter", set->filter);
	if (f->report)
		line_printf(l, "  read %.8s in %s  every %s", time_text(f->time_ms).text + 11,
			    span_text((double)f->read_us / 1e6).text,
			    span_text((double)f->every_us / 1e6).text);
	screen_line(s, LOOK_PLAIN);
}

static void draw_table(struct files_pane *f, struct screen *s)
{
	const struct cursor *c = &f->pane.cursor;
	struct files_report shown = *f->report;
	struct files_table *t = &f->table;
	const struct table_style style = pane_style(&f->pane, s);

	shown.rows += c->first;
	shown.row_count = cursor_shown(c);
	shown.others_count = 0;
	t->r = &shown;
	t->style = &style;
	t->marked = f->set.sort;
	memset(&t->grid, 0, sizeof(t->grid));
	files_table_place(t);
	grid_measure(&t->grid);
	pane_table(&f->pane, &t->grid, s);
}

static void draw_why(struct screen *s, const char *why)
{
	cleanup(strbuf_done) struct strbuf text = {};

	strbuf_puts(&text, "files: ");
	text_put_folded(&text, why, 7, s->width);
	pane_text(NULL, strbuf_str(&text), false, s);
}

static const char *files_draw(struct pane *p, struct screen *s)
{
	struct files_pane *f = files_of(p);

	files_place(p);
	head_draw(p->shared, s, true, NULL);
	if (head_has(p->shared, HEAD_STATE))
		draw_state(f, s);
	if (f->report) {
		draw_table(f, s);
		if (accounts(f))
			pane_say(s,
				 &(struct said){&file_accounts_said, f->report, NULL,
						p->shared->style.bytes},
				 LOOK_PLAIN);
	} else {
		draw_why(s, f->why ? f->why : "reading…");
	}
	if (f->set.group != FILE_GROUP_NONE)
		return "? help  l processes  Enter files  g next groups  f filter  s sort  / search  "
		       "r reverse";
	return "? help  l processes  Enter holders  g groups  f filter  s sort  / search  r reverse  "
	       "b bytes  Space pause";
}

const struct pane_class files_class = {
	.keys = keys,
	.open = files_open,
	.close = files_close,
	.place = files_place,
	.moved = files_moved,
	.matches = files_matches,
	.draw = files_draw,
};
