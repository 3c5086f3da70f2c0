// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The comparison as a table: the cells that differ, and the verdicts of each counter. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fields/compare_fields.h"
#include "report/report.h"
#include "write/field_text.h"
#include "write/say.h"

/* Minimum widths of a size ("1023 GiB"), of exact bytes and of a count. */
#define SIZE_MIN     10
#define BYTES_MIN    15
#define COUNT_MIN    11
#define COUNT_NARROW 5

/* A narrower terminal shows only the first reading of /proc, to leave room for the name. */
#define WIDE_ENOUGH 100

struct page {
	struct line line;
	const struct compare_report *r;
	const struct table_style *style;
};

static unsigned size_width(const struct page *p)
{
	return p->style->bytes ? BYTES_MIN : SIZE_MIN;
}

static bool is_narrow(const struct page *p)
{
	return p->style->width && p->style->width < WIDE_ENOUGH;
}

/* ---- the cells ---- */

static void place_cells(const struct page *p, struct grid *g)
{
	static const unsigned min[] = {0, 9, 0, 0, 0, 0, 11, 0}; /* of words */

	*g = (struct grid){.style = p->style};
	for (size_t i = 0; i < compare_columns.count; i++) {
		const struct field *f = compare_columns.item[i];
		bool size = f->type == FIELD_BYTES || f->type == FIELD_CHANGE;
		struct grid_column *c = grid_add(g, f);

		c->type = f->type == FIELD_CHANGE ? CELL_SIGNED : c->type;
		c->hidden = is_narrow(p) && strcmp(f->key, "proc_after_bytes") == 0;
		c->min = size ? size_width(p) : min[i];
	}
	grid_place(g);
}

/* `counter`: all counters, or NULL for that of the cell. */
static void put_cell(struct page *p, const struct grid *g, const char *counter,
		     const struct compare_cell *cell)
{
	struct cell row[GRID_COLUMNS_MAX];
	char pid[16];

	for (size_t i = 0; i < compare_columns.count; i++) {
		const struct field *f = compare_columns.item[i];

		row[i] = cell_of_value(f, field_value(f, cell, p->r));
		if (row[i].type == CELL_CHANGE)
			row[i].type = CELL_SIGNED;
		if (counter && strcmp(f->key, "counter") == 0)
			row[i] = cell_text(counter);
	}
	/* The attribute of the line begins with it. */
	snprintf(pid, sizeof(pid), "%7" PRId64, row[0].number);
	row[0] = cell_text(pid);
	if (cell->verdict == COMPARE_DIFFERENT)
		p->line.attr = ATTR_BOLD;
	else if (cell->verdict == COMPARE_SAME)
		p->line.attr = ATTR_DIM;
	grid_print_cells(g, &p->line, row);
}

/* True if all cells of a process have one verdict and none has a value. */
static bool is_alike(const struct compare_row *row)
{
	const struct compare_cell *first = NULL;

	for (size_t k = 0; k < row->count; k++) {
		const struct compare_cell *cell = &row->cell[k];

		if (cell->left_out)
			continue;
		if (cell->bpf_known || cell->proc_known ||
		    (first && first->verdict != cell->verdict))
			return false;
		first = cell;
	}
	return first;
}

static void put_row(struct page *p, const struct grid *g, const struct compare_row *row,
		    bool *header)
{
	bool alike = is_alike(row);

	for (size_t k = 0; k < row->count; k++) {
		const struct compare_cell *cell = &row->cell[k];

		if (!compare_shown(cell, p->r->all))
			continue;
		if (*header)
			grid_print_heading(g, &p->line);
		*header = false;
		put_cell(p, g, alike ? "all" : NULL, cell);
		if (alike)
			return;
	}
}

static void put_cells(struct page *p)
{
	const struct comparison *c = p->r->comparison;
	bool header = p->style->header;
	struct grid grid;

	place_cells(p, &grid);
	for (size_t i = 0; i < c->count; i++)
		put_row(p, &grid, &c->row[i], &header);
	if (header != p->style->header)
		line_end(&p->line);
}

/* ---- the counters ---- */

static const char *proc_file_name(enum compare_policy policy)
{
	return policy == POLICY_ROLLUP || policy == POLICY_SHARE ? "smaps_rollup" : "status";
}

/* Counts the verdicts of one counter. Returns how many cells it has. */
static size_t sum_counter(const struct comparison *c, int counter, size_t *ret_verdict,
			  int64_t *ret_largest)
{
	size_t cells = 0;

	memset(ret_verdict, 0, COMPARE_VERDICTS * sizeof(*ret_verdict));
	*ret_largest = 0;
	for (size_t i = 0; i < c->count; i++) {
		for (size_t k = 0; k < c->row[i].count; k++) {
			const struct compare_cell *cell = &c->row[i].cell[k];
			int64_t difference;

			if (cell->counter != counter || cell->left_out)
				continue;
			cells++;
			ret_verdict[cell->verdict]++;
			if (compare_difference(cell, &difference) &&
			    llabs(difference) > llabs(*ret_largest))
				*ret_largest = difference;
		}
	}
	return cells;
}

/* A verdict that no cell has gets no column, except these three. */
static bool has_column(const struct compare_sums *all, int verdict)
{
	return all->verdict[verdict] || verdict == COMPARE_SAME || verdict == COMPARE_MOVED ||
	       verdict == COMPARE_DIFFERENT;
}

static void place_counters(const struct page *p, const struct compare_sums *all,
			   const struct table_style *style, struct grid *g)
{
	unsigned count = is_narrow(p) ? COUNT_NARROW : COUNT_MIN;

	*g = (struct grid){
		.style = style,
		.columns = 3,
		.column = {{"COUNTER", CELL_TEXT, .left = true, .min = 9},
			   {"AGAINST", CELL_TEXT, .left = true, .min = 12},
			   {"VALUES", CELL_COUNT, .min = count}},
	};
	for (int v = 0; v < COMPARE_VERDICTS; v++)
		g->column[g->columns++] =
			(struct grid_column){compare_verdict_name(v), CELL_COUNT, .min = count,
					     .hidden = !has_column(all, v)};
	g->column[g->columns++] =
		(struct grid_column){"LARGEST", CELL_SIGNED, .min = size_width(p)};
	grid_place(g);
}

static void put_counters(struct page *p, const struct compare_sums *all)
{
	struct table_style style = *p->style;
	size_t verdict[COMPARE_VERDICTS], cells;
	int64_t largest;
	struct grid grid;

	style.header = true;
	place_counters(p, all, &style, &grid);
	grid_print_heading(&grid, &p->line);
	for (int c = 0; c < COUNTERS_OF_PROCESS; c++) {
		struct cell row[3 + COMPARE_VERDICTS + 1];

		cells = sum_counter(p->r->comparison, c, verdict, &largest);
		if (!cells)
			continue;
		row[0] = cell_text(counter_table[c].header);
		row[1] = cell_text(proc_file_name(counter_table[c].policy));
		row[2] = cell_number(CELL_COUNT, true, (int64_t)cells);
		for (int v = 0; v < COMPARE_VERDICTS; v++)
			row[3 + v] = cell_number(CELL_COUNT, true, (int64_t)verdict[v]);
		row[3 + COMPARE_VERDICTS] = cell_number(CELL_SIGNED, true, largest);
		grid_print_cells(&grid, &p->line, row);
	}
	line_end(&p->line);
}

void render_compare_table(struct strbuf *out, const struct compare_report *r,
			  const struct table_style *style)
{
	struct page page = {
		.line = {.out = out, .width = style->width, .color = style->color},
		.r = r,
		.style = style,
	};
	struct said said = {&compare_said, r, r, style->bytes};

	put_cells(&page);
	put_counters(&page, &r->sums);
	/* Sentences are not cut. */
	page.line.width = 0;
	say_all(out, &said, 0, 0);
	page.line.attr = ATTR_BOLD;
	said.sentences = &compare_verdict;
	say_first(&page.line, &said);
	line_end(&page.line);
}
