// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The changes between two snapshots as a table, JSON, NDJSON and CSV. */
#include "report/diff.h"

#include "fields/change_fields.h"
#include "report/ended.h"
#include "report/json.h"
#include "write/field_text.h"
#include "write/grid.h"
#include "write/say.h"

/* ---- the table ---- */

#define USER_WIDE 10 /* maximum width of a user's name */

struct diff_table {
	const struct diff_report *r;
	const struct table_style *style;
	struct grid grid;
	struct field name;
	struct field_list columns;
	struct group_change others;
	struct changes_said compared;
};

static void fill(void *arg, size_t row, size_t first, size_t end, struct cell *ret)
{
	const struct diff_table *t = arg;
	const struct group_changes *g = t->r->changes;
	bool sum = row == GRID_TOTAL || row == GRID_OTHERS;
	const struct group_change *c = row == GRID_TOTAL    ? &g->total
				       : row == GRID_OTHERS ? &t->others
							    : &g->item[row];

	for (size_t i = first; i < end; i++) {
		const struct field *f = t->columns.item[i];

		*ret = sum && !(f->flags & FIELD_SUMS) ? (struct cell){.type = CELL_EMPTY}
						       : cell_of_value(f, field_value(f, c, NULL));
		if (t->r->group && f == &t->name && ret->type == CELL_UNKNOWN)
			*ret = cell_text("(none)");
		ret++;
	}
}

static void put_summary(void *arg, struct line *l)
{
	(void)arg;
	line_printf(l, "total");
}

/* The sentences that are about the processes, and about the machine, which is more than they are.
 */
static void put_notes(void *arg, struct strbuf *out)
{
	const struct diff_table *t = arg;
	const unsigned width = t->style->width;

	say_all(out, &(struct said){.sentences = &changes_small, .row = &t->compared}, 0, width);
	if (t->r->ram.known)
		say_all(out, &(struct said){&ram_changes_said, &t->r->ram, NULL, t->style->bytes},
			0, width);
	say_all(out, &(struct said){.sentences = &changes_missing, .row = &t->r->changes->total}, 0,
		width);
	render_ended(out, &t->r->ended, &ended_between_said, t->r->ended_shown, t->style);
}

static void add_column(struct diff_table *t, const struct field *f)
{
	struct grid_column *c = grid_add(&t->grid, f);

	c->middle = f == &t->name && t->r->group;
	c->max = f->needs & NEEDS_USER && f != &t->name ? USER_WIDE : 0;
}

void render_diff_table(struct strbuf *out, const struct diff_report *r,
		       const struct table_style *style)
{
	struct diff_table t = {.r = r,
			       .style = style,
			       .name = change_name_field(r->group),
			       .compared = {r->what, r->before->time_ms, r->after->time_ms,
					    r->small, r->after->host.page_size}};
	struct line l = {.out = out, .width = style->width, .color = style->color};

	t.grid.style = style;
	t.grid.source = (struct grid_source){.fill = fill,
					     .summary = put_summary,
					     .notes = put_notes,
					     .arg = &t,
					     .rows = r->shown,
					     .others = r->changes->count - r->shown};
	t.grid.unknown = ATTR_DIM;
	group_changes_sum(r->changes, r->shown, r->changes->count, &t.others);
	change_list_table(&t.columns, &t.name, r->group);
	for (size_t i = 0; i < t.columns.count; i++)
		add_column(&t, t.columns.item[i]);
	if (style->header) {
		say_first(&l, &(struct said){.sentences = &changes_head, .row = &t.compared});
		line_end(&l);
	}
	grid_place(&t.grid);
	grid_print(out, &t.grid);
}

/* ---- JSON ---- */

#define HOST_MAX 512

/* The fields of a row, for an open object. */
static void put_row(struct json_writer *w, const struct diff_report *r,
		    const struct change_keys *keys, const struct group_change *c)
{
	json_all(w, r->group ? &change_group_fields : &change_process_fields, c, NULL, false);
	json_fields(w, &keys->list, c, NULL, false);
}

/* What the rows are, and their sum, for an open object. */
static void put_totals(struct json_writer *w, const struct diff_report *r)
{
	json_i64(w, "from_ms", r->before->time_ms);
	json_i64(w, "to_ms", r->after->time_ms);
	json_string(w, "counter", r->key);
	json_string(w, "group_by", r->group ? r->group->key : NULL);
	json_object(w, "totals");
	json_all(w, &change_total_fields, &r->changes->total, NULL, false);
	json_end(w, '}');
	json_u64(w, "small_changes", r->small);
	json_u64(w, "rows_not_written", r->changes->count - r->shown);
	json_all(w, &change_machine_fields, &r->ram, NULL, false);
	json_all(w, &ended_fields, &r->ended, NULL, false);
}

void render_diff_json(struct strbuf *out, const struct diff_report *r)
{
	struct json_writer writer = {.out = out}, *w = &writer;
	struct change_keys keys;

	change_keys_set(&keys, r->group);
	json_document_begin(w, "zmem.diff", "1.5", r->after);
	json_newline(w);
	put_totals(w, r);
	json_newline(w);
	json_array(w, "rows");
	for (size_t i = 0; i < r->shown; i++) {
		json_begin_line(w, '{');
		put_row(w, r, &keys, &r->changes->item[i]);
		json_end(w, '}');
	}
	json_end_lines(w, ']');
	json_document_end(w);
}

static void put_line_begin(struct json_writer *w, const char *type, const struct diff_report *r)
{
	*w = (struct json_writer){.out = w->out};
	json_begin(w, '{');
	json_string(w, "type", type);
	json_i64(w, "timestamp_ms", r->after->time_ms);
	json_string_max(w, "host", r->after->host.name, HOST_MAX);
}

static void put_line_end(struct json_writer *w)
{
	json_end(w, '}');
	strbuf_putc(w->out, '\n');
}

void render_diff_ndjson(struct strbuf *out, const struct diff_report *r)
{
	struct json_writer w = {.out = out};
	struct change_keys keys;

	change_keys_set(&keys, r->group);
	for (size_t i = 0; i < r->shown; i++) {
		put_line_begin(&w, "change", r);
		put_row(&w, r, &keys, &r->changes->item[i]);
		put_line_end(&w);
	}
	put_line_begin(&w, "diff", r);
	put_totals(&w, r);
	put_line_end(&w);
}

/* ---- CSV ---- */

void render_diff_csv(struct strbuf *out, const struct diff_report *r,
		     const struct table_style *style)
{
	struct field name = change_name_field(r->group);
	struct change_keys keys;
	struct field_list list;

	change_keys_set(&keys, r->group);
	change_list_csv(&list, &name, r->group, &keys);
	if (style->header)
		csv_put_head(out, &list, style_separator(style));
	for (size_t i = 0; i < r->shown; i++)
		csv_put_fields(out, &list, &r->changes->item[i], NULL, style_separator(style));
}
