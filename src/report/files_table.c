// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The table of cached files, and how their sums compare with the kernel's. */
#include <stdio.h>

#include "fields/file_said.h"
#include "report/files_table.h"
#include "write/field_text.h"
#include "write/say.h"

/* A terminal narrower than this leaves out FS, and one narrower than NARROW also SIZE. */
#define WIDE_ENOUGH    100
#define NARROW	       72

#define HOLDERS_NARROW 1  /* so many holders are named in a narrow table */
#define HOLDERS_WIDTH  26 /* of a narrow table, also of cgroups */
#define CGROUPS_WIDTH  60 /* of another one, unless it is wide */

static bool is_narrower(const struct files_table *t, unsigned width)
{
	return t->style->width && t->style->width < width;
}

static bool has_room(const struct files_table *t, const struct field *f)
{
	bool holders = field_list_has(t->r->columns, file_field("holders")) ||
		       field_list_has(t->r->columns, file_field("cgroup"));

	if (t->r->columns_chosen)
		return true;
	if (f == file_field("fs"))
		return !is_narrower(t, WIDE_ENOUGH);
	if (f == file_field("size") || f == file_field("swap_ram"))
		return !is_narrower(t, holders ? WIDE_ENOUGH : NARROW);
	return true;
}

/* "bash(71),sh(93)+2" */
static struct cell cell_of_holders(struct files_table *t, const struct cached_file *f)
{
	uint32_t most = is_narrower(t, WIDE_ENOUGH) ? HOLDERS_NARROW : FILE_HOLDERS_SHOWN;
	uint32_t shown = f->holder_count;

	if (!f->holders_known)
		return cell_text(NULL);
	if (!t->style->wide && shown > most)
		shown = most;
	strbuf_clear(&t->holders);
	for (uint32_t i = 0; i < shown; i++)
		strbuf_printf(&t->holders, "%s%s(%d)", i ? "," : "",
			      file_holder_name(&f->holder[i]), (int)f->holder[i].pid);
	if (shown < f->holder_count)
		strbuf_printf(&t->holders, "+%u", f->holder_count - shown);
	if (f->holders_hidden)
		strbuf_puts(&t->holders, shown ? ",hidden" : "hidden");
	return cell_text(strbuf_str(&t->holders));
}

static void fill(void *arg, size_t row, size_t first, size_t end, struct cell *ret)
{
	struct files_table *t = arg;
	const struct files_report *r = t->r;
	const struct cached_file *f = row < r->row_count  ? r->rows[row]
				      : row == GRID_TOTAL ? &r->total
							  : &r->others;

	for (size_t i = first; i < end; i++) {
		const struct field *column = t->r->columns->item[i];

		*ret++ = column->type == FIELD_NUMBERS
				 ? cell_of_holders(t, f)
				 : cell_of_value(column, field_value(column, &f, &t->texts));
	}
}

static void put_summary(void *arg, struct line *l)
{
	const struct files_table *t = arg;

	say_first(l, &(struct said){&file_total_said, t->r});
}

/* Notes are about all files, whatever the filters choose. */
static void put_notes(void *arg, struct strbuf *out)
{
	const struct files_table *t = arg;
	const unsigned width = t->style->width;

	say_all(out, &(struct said){&file_accounts_said, t->r, NULL, t->style->bytes}, 0, width);
	say_all(out, &(struct said){&file_unsure_said, t->r, NULL, SIZES_ROUNDED}, 0, width);
}

/* The width of a column that names others; 0: any. */
static unsigned width_of(const struct files_table *t, const struct field *f)
{
	bool cgroup = f == file_field("cgroup");

	if (is_narrower(t, WIDE_ENOUGH))
		return cgroup || f->type == FIELD_NUMBERS ? HOLDERS_WIDTH : 0;
	return cgroup && !t->style->wide ? CGROUPS_WIDTH : 0;
}

static void add_column(struct files_table *t, const struct field *f, bool asked)
{
	struct grid_column *c = grid_add(&t->grid, f);

	c->middle = f == file_field("name");
	c->max = width_of(t, f);
	c->hidden = !has_room(t, f);
	c->marked = f == t->marked;
	c->asked = asked;
}

void files_table_place(struct files_table *t)
{
	t->grid.style = t->style;
	t->grid.source = (struct grid_source){.fill = fill,
					      .summary = put_summary,
					      .notes = t->style->only_total ? NULL : put_notes,
					      .arg = t,
					      .rows = t->r->row_count,
					      .others = t->r->others_count};
	t->grid.unknown = ATTR_DIM;
	t->grid.columns = 0;
	for (size_t i = 0; i < t->r->columns->count; i++)
		add_column(t, t->r->columns->item[i], t->r->columns->asked[i]);
	grid_place(&t->grid);
}

void files_table_done(struct files_table *t)
{
	strbuf_done(&t->holders);
}

void render_files_table(struct strbuf *out, const struct files_report *r,
			const struct table_style *style)
{
	struct files_table t = {.r = r, .style = style};

	files_table_place(&t);
	grid_print(out, &t.grid);
	files_table_done(&t);
}
