// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Prints tables in two passes over the rows: the first finds the widths of the columns, the second
 * writes. Cells are made again for each pass, so memory does not grow with the rows.
 */
#include "write/grid.h"

#include <limits.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "write/format.h"
#include "write/text.h"

#define GAP	  2  /* between columns */
#define TEXT_ROOM 12 /* for a text in the last column, where there are more columns */

/* ---- cells ---- */

static size_t format_signed(char *buf, int64_t bytes, bool plus, bool exact)
{
	size_t sign = bytes < 0 || (plus && bytes);

	*buf = bytes < 0 ? '-' : '+';
	return sign +
	       format_bytes(buf + sign, bytes < 0 ? -(uint64_t)bytes : (uint64_t)bytes, exact);
}

/* A value that is shown as 0.0 has no sign. */
static size_t format_share(char *buf, double percent)
{
	size_t sign = percent <= -0.05;
	size_t len = format_percent(buf + sign, percent < 0 ? -percent : percent);

	*buf = sign ? '-' : *buf;
	return len ? sign + len : 0;
}

static size_t format_of(char *buf, uint32_t part, uint32_t whole)
{
	size_t len = format_i64(buf, part);

	buf[len++] = '/';
	return len + format_i64(buf + len, whole);
}

#define AT_LEAST ">="
#define CELL_MAX (FORMAT_MAX + sizeof(AT_LEAST))

/* Formats any cell but a text. Returns 0 for a cell without a value. */
static size_t format_value(const struct cell *cell, bool exact, char *buf)
{
	switch (cell->type) {
	case CELL_BYTES:
		return format_bytes(buf, cell->bytes, exact);
	case CELL_SIGNED:
	case CELL_CHANGE:
		return format_signed(buf, cell->number, cell->type == CELL_CHANGE, exact);
	case CELL_COUNT:
		return format_i64(buf, cell->number);
	case CELL_GROWTH:
		*buf = '+';
		return cell->number > 0 ? 1 + format_i64(buf + 1, cell->number)
					: format_i64(buf, cell->number);
	case CELL_ADDRESS:
		return format_address(buf, cell->bytes);
	case CELL_PERCENT:
		return format_share(buf, cell->percent);
	case CELL_OF:
		return format_of(buf, cell->of.part, cell->of.whole);
	case CELL_RATIO:
		return format_ratio(buf, cell->bytes);
	case CELL_TIME:
		return format_time(buf, cell->number, TIME_TABLE);
	default:
		return 0;
	}
}

static size_t format_cell(const struct cell *cell, bool exact, char *buf)
{
	size_t mark = cell->at_least ? sizeof(AT_LEAST) - 1 : 0;
	size_t len = format_value(cell, exact, buf + mark);

	memcpy(buf, AT_LEAST, mark);
	return len ? mark + len : 0;
}

void cell_put(struct line *l, struct cell cell, bool exact_bytes)
{
	char buf[CELL_MAX];
	size_t len = format_cell(&cell, exact_bytes, buf);

	line_ascii(l, len ? buf : "-", len ? len : 1);
}

/* ---- where columns are ---- */

static void widen(struct grid *g, size_t i, size_t width)
{
	if (g->width[i] < width)
		g->width[i] = (unsigned)width;
}

void grid_place(struct grid *g)
{
	g->first = g->columns;
	g->last = 0;
	g->words = false;
	for (size_t i = 0; i < g->columns; i++) {
		const struct grid_column *c = &g->column[i];

		if (c->hidden)
			continue;
		g->first = i < g->first ? i : g->first;
		g->last = i;
		g->words = c->type == CELL_TEXT;
		widen(g, i, c->min);
		if (g->style->header)
			widen(g, i, strlen(c->heading));
	}
}

/* The maximum width of a cell: when one row reaches it, measuring stops. */
static unsigned widest(const struct grid *g, size_t i)
{
	const struct grid_column *c = &g->column[i];

	if (c->type == CELL_BYTES && !g->style->bytes)
		return FORMAT_SIZE_MAX + (c->at_least ? sizeof(AT_LEAST) - 1 : 0);
	if (c->type == CELL_CHANGE && !g->style->bytes)
		return FORMAT_SIZE_MAX + 1;
	if (c->type == CELL_TIME)
		return FORMAT_TIME_TABLE_MAX;
	/* No column follows the last one, and command lines are long: do not measure. */
	if (c->type == CELL_TEXT && i == g->last)
		return 0;
	if (c->type == CELL_TEXT && c->max)
		return c->max;
	return UINT_MAX;
}

/* How many bytes of a text are shown. The width of the last text column is not needed. */
static size_t fit_text(const struct grid *g, size_t i, const struct cell *cell, unsigned *ret_width)
{
	size_t len = strlen(cell->text);
	unsigned max = g->column[i].max;

	*ret_width = 0;
	if (i == g->last && g->words)
		return len;
	len = text_fit(cell->text, len, max && i != g->last ? max : UINT_MAX, ret_width);
	*ret_width += cell->cut;
	return len;
}

static void measure(struct grid *g, size_t i, size_t row)
{
	char buf[CELL_MAX];
	struct cell cell;
	unsigned width;

	g->source.fill(g->source.arg, row, i, i + 1, &cell);
	if (cell.type == CELL_TEXT)
		fit_text(g, i, &cell, &width);
	else
		width = (unsigned)format_cell(&cell, g->style->bytes, buf);
	widen(g, i, width ? width : 1);
}

void grid_measure(struct grid *g)
{
	size_t rows = g->style->only_total ? 0 : g->source.rows;

	for (size_t i = 0; i < g->columns; i++) {
		unsigned most = widest(g, i);

		if (g->column[i].hidden)
			continue;
		if (g->column[i].summed) {
			measure(g, i, GRID_TOTAL);
			if (g->source.others)
				measure(g, i, GRID_OTHERS);
		}
		for (size_t row = 0; row < rows && g->width[i] < most; row++)
			measure(g, i, row);
	}
}

static unsigned total_width(const struct grid *g)
{
	unsigned width = 0;

	for (size_t i = g->first; i <= g->last && i < g->columns; i++) {
		if (!g->column[i].hidden)
			width += g->width[i] + (i > g->first ? GAP : 0);
	}
	/* A text in the last column is not measured. */
	if (g->words && g->width[g->last] < TEXT_ROOM)
		width += TEXT_ROOM - g->width[g->last];
	return width;
}

static void hide_columns(struct grid *g, unsigned width, bool asked)
{
	for (size_t i = g->last; i-- > g->first && total_width(g) > width;) {
		if (g->column[i].hidden || g->column[i].asked != asked)
			continue;
		g->column[i].hidden = g->column[i].crowded = true;
		grid_place(g);
	}
}

void grid_fit(struct grid *g, unsigned width)
{
	hide_columns(g, width, false);
	hide_columns(g, width, true);
}

unsigned grid_room(const struct grid *g)
{
	unsigned used = 0;

	for (size_t i = g->first; i < g->last && i < g->columns; i++)
		used += g->column[i].hidden ? 0 : g->width[i] + GAP;
	return g->style->width > used ? g->style->width - used : g->style->width > 0;
}

/* ---- output ---- */

/* The columns that a text may take: those of its column, or the rest of the line. */
static unsigned text_limit(const struct grid *g, const struct line *l, size_t i)
{
	size_t used = (size_t)l->column + l->blanks;

	if (i != g->last)
		return g->column[i].max;
	return l->width > used ? l->width - (unsigned)used : 0;
}

static bool is_cut_in_middle(const struct grid *g, const struct line *l, size_t i,
			     const struct cell *cell)
{
	return g->column[i].middle && !cell->cut && !l->cut && text_limit(g, l, i);
}

static void put_cell(const struct grid *g, struct line *l, size_t i, const struct cell *cell)
{
	bool is_text = cell->type == CELL_TEXT, left = g->column[i].left, known = true;
	enum line_attr attr = l->attr;
	char buf[CELL_MAX] = "-";
	unsigned width, pad;
	size_t len;

	if (g->column[i].hidden)
		return;
	if (is_text) {
		len = fit_text(g, i, cell, &width);
	} else {
		len = format_cell(cell, g->style->bytes, buf);
		known = len || cell->type == CELL_EMPTY;
		len += !known;
		width = (unsigned)len;
	}
	pad = g->width[i] > width ? g->width[i] - width : 0;
	line_blanks(l, (i > g->first ? GAP : 0) + (left ? 0 : pad));
	if (attr == ATTR_NORMAL)
		l->attr = known ? cell->attr : g->unknown;
	if (is_text && is_cut_in_middle(g, l, i, cell))
		line_text_middle(l, cell->text, text_limit(g, l, i));
	else if (is_text)
		line_text_part(l, cell->text, len, cell->cut || cell->text[len]);
	else
		line_ascii(l, buf, len);
	l->attr = attr;
	line_blanks(l, left ? pad : 0);
}

void grid_put_heading(const struct grid *g, struct line *l)
{
	enum line_attr attr = l->attr;

	for (size_t i = 0; i < g->columns; i++) {
		const struct cell cell = cell_text(g->column[i].heading);

		l->attr = g->column[i].marked ? ATTR_REVERSE : attr;
		put_cell(g, l, i, &cell);
	}
	l->attr = attr;
}

static void put_cells(const struct grid *g, struct line *l, const struct cell *cells)
{
	for (size_t i = 0; i < g->columns; i++)
		put_cell(g, l, i, &cells[i]);
}

void grid_put_row(const struct grid *g, struct line *l, size_t row)
{
	struct cell cell[GRID_COLUMNS_MAX];

	g->source.fill(g->source.arg, row, 0, g->columns, cell);
	put_cells(g, l, cell);
}

void grid_put_sums(const struct grid *g, struct line *l, size_t row)
{
	size_t end = g->words ? g->last : g->columns;

	for (size_t i = 0; i < end; i++) {
		struct cell cell = {.type = CELL_EMPTY};

		if (g->column[i].summed)
			g->source.fill(g->source.arg, row, i, i + 1, &cell);
		put_cell(g, l, i, &cell);
	}
	if (g->first < end)
		line_blanks(l, GAP);
}

void grid_print_heading(const struct grid *g, struct line *l)
{
	if (!g->style->header)
		return;
	l->attr = ATTR_BOLD;
	grid_put_heading(g, l);
	line_end(l);
}

void grid_print_cells(const struct grid *g, struct line *l, const struct cell *cells)
{
	put_cells(g, l, cells);
	line_end(l);
}

/* The total without words, for scripts. */
static void print_values(struct grid *g, struct line *l)
{
	for (size_t i = 0; i < g->columns; i++)
		g->column[i].hidden |= !g->column[i].summed;
	grid_place(g);
	grid_put_sums(g, l, GRID_TOTAL);
	line_end(l);
}

/* Names the columns that grid_fit() hid. */
static void print_crowded(const struct grid *g, struct line *l)
{
	const char *before = "no room for ";
	cleanup(strbuf_done) struct strbuf text = {};

	for (size_t i = 0; i < g->columns; i++) {
		if (!g->column[i].crowded)
			continue;
		strbuf_printf(&text, "%s%s", before, g->column[i].heading);
		before = ", ";
	}
	if (*before != ',')
		return;
	strbuf_puts(&text, " (-w shows all columns)");
	strbuf_take_error(l->out, &text);
	text_put_folded(l->out, strbuf_str(&text), 0, g->style->width);
}

static void print_total(const struct grid *g, struct line *l)
{
	l->attr = ATTR_BOLD;
	/* Words that say what is missing are not cut; with notes there are none. */
	l->width = g->source.notes ? g->style->width : 0;
	grid_put_sums(g, l, GRID_TOTAL);
	g->source.summary(g->source.arg, l);
	line_end(l);
}

void grid_print(struct strbuf *out, struct grid *g)
{
	struct line line = {.out = out, .width = g->style->width, .color = g->style->color};

	if (g->style->only_total && !g->style->header) {
		print_values(g, &line);
		return;
	}
	grid_measure(g);
	if (g->style->width)
		grid_fit(g, g->style->width);
	grid_print_heading(g, &line);
	for (size_t i = 0; !g->style->only_total && i < g->source.rows; i++) {
		grid_put_row(g, &line, i);
		line_end(&line);
	}
	if (g->source.others && !g->style->only_total) {
		grid_put_sums(g, &line, GRID_OTHERS);
		line_printf(&line, TEXT_ELLIPSIS " %zu more", g->source.others);
		line_end(&line);
	}
	if (!g->source.no_total)
		print_total(g, &line);
	if (g->source.notes)
		g->source.notes(g->source.arg, out);
	print_crowded(g, &line);
}
