// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The table of mappings: which columns fit the terminal, and their cells. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fields/file_said.h"
#include "fields/map_fields.h"
#include "report/report.h"
#include "write/field_text.h"
#include "write/grid.h"
#include "write/say.h"

/* A narrower terminal leaves out counters that are 0 in the total. */
#define WIDE_ENOUGH 150
/* A terminal narrower than this also leaves out the end of the address, SHARED and SWAP_PSS. */
#define NARROW 110

struct maps_table {
	const struct maps_report *r;
	const struct table_style *style;
	const struct fields *columns;
	struct grid grid;
	char address[40]; /* of the current row: "7f0123456000-7f0123457000" */
};

static bool is_narrower(const struct maps_table *t, unsigned width)
{
	return t->style->width && t->style->width < width;
}

static bool has_column(const struct maps_table *t, const struct field *f)
{
	const struct map_counters *total = &t->r->total;

	if (strcmp(f->key, "pid") == 0)
		return t->r->several;
	if (f->counter == MAPS_THP_REST)
		return t->r->rest;
	if (f->counter >= MAPS_NODE0)
		return t->r->nodes >> (f->counter - MAPS_NODE0) & 1;
	if (f->counter < 0 || !is_narrower(t, WIDE_ENOUGH))
		return true;
	if ((f->counter == MAPS_SHARED || f->counter == MAPS_SWAP_PSS) && is_narrower(t, NARROW))
		return false;
	return f->counter <= MAPS_SHARED || !map_has(total, f->counter) || total->value[f->counter];
}

static struct cell cell_of_range(struct maps_table *t, const struct mapping *m)
{
	snprintf(t->address, sizeof(t->address), "%08" PRIx64 "-%08" PRIx64, m->start, m->end);
	return cell_text(t->address);
}

static struct cell cell_of_mapping(struct maps_table *t, const struct mapping *m,
				   const struct field *f)
{
	struct value v = field_value(f, &m, NULL);
	struct cell cell = cell_of_value(f, v);

	if (f->type == FIELD_ADDRESS && !is_narrower(t, NARROW))
		return cell_of_range(t, m);
	cell.cut = v.cut;
	return cell;
}

static void fill(void *arg, size_t row, size_t first, size_t end, struct cell *ret)
{
	struct maps_table *t = arg;
	const struct maps_report *r = t->r;
	const struct mapping sums = {.counters = row == GRID_TOTAL ? r->total : r->others};
	const struct mapping *m = row < r->row_count ? r->rows[row] : &sums;

	for (size_t i = first; i < end; i++)
		*ret++ = cell_of_mapping(t, m, t->columns->item[i]);
}

static void put_summary(void *arg, struct line *l)
{
	(void)arg;
	line_printf(l, "total");
}

/* Writes what the total sums, and what is missing in it. */
static void put_notes(void *arg, struct strbuf *out)
{
	const struct maps_table *t = arg;
	const struct said said = {&maps_said, t->r, NULL, t->style->bytes};

	say_all(out, &said, 0, t->style->width);
}

static void add_column(struct maps_table *t, const struct field *f)
{
	struct grid_column *c = grid_add(&t->grid, f);
	bool last = t->grid.columns == t->columns->count;

	if (last && t->r->group)
		c->heading = t->r->group->heading;
	c->middle = last;
	c->hidden = !has_column(t, f);
}

void render_maps_table(struct strbuf *out, const struct maps_report *r,
		       const struct table_style *style)
{
	struct maps_table t = {.r = r, .style = style, .columns = map_columns[r->kind]};

	t.grid.style = style;
	t.grid.source = (struct grid_source){.fill = fill,
					     .summary = put_summary,
					     .notes = put_notes,
					     .arg = &t,
					     .rows = r->row_count,
					     .others = r->others_count};
	t.grid.unknown = ATTR_DIM;
	for (size_t i = 0; i < t.columns->count; i++)
		add_column(&t, t.columns->item[i]);
	grid_place(&t.grid);
	grid_print(out, &t.grid);
}
