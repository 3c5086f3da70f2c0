// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The table: how columns are aligned and what stands in a cell. A first pass over the rows finds
 * the widths, a second one writes, so that memory does not grow with the rows. What a column reads
 * is for column.h, what a line can hold for line.h.
 */
#include "render/table_cells.h"

#include <limits.h>
#include <string.h>

#include "render/format.h"
#include "render/summary.h"

#define GAP	  2  /* between columns */
#define TEXT_WIDE 32 /* columns of a text that is not the last one */

/* What stands in one place: a figure in buf, or somebody else's text. */
struct cell {
	char buf[FORMAT_MAX];
	size_t len;	  /* of the figure */
	const char *text; /* NULL: a figure */
	unsigned width;
	bool missing; /* not measured */
};

static void cell_figure(struct cell *cell, size_t len)
{
	cell->len = len;
	if (!len) {
		cell->buf[0] = '-';
		cell->len = 1;
		cell->missing = true;
	}
	cell->text = NULL;
	cell->width = (unsigned)cell->len;
}

/* Columns that a text in column i may take, 0: any number. */
static unsigned text_limit(const struct table *t, size_t i)
{
	return t->style->wide || i + 1 == t->columns ? 0 : TEXT_WIDE;
}

static void cell_text(const struct table *t, size_t i, const char *text, struct cell *cell)
{
	unsigned limit = text_limit(t, i);

	cell->text = text;
	cell->width = 0;
	/* Nothing stands behind the last column, so nobody asks; command lines are long. */
	if (i + 1 == t->columns)
		return;
	text_fit(text, strlen(text), limit ? limit : UINT32_MAX, &cell->width);
}

static size_t put_change(const struct table *t, int64_t bytes, char *buf)
{
	int64_t rate = change_rate(bytes, t->r->snapshot->change_us);
	uint64_t amount = rate < 0 ? -(uint64_t)rate : (uint64_t)rate;

	if (rate)
		*buf++ = rate < 0 ? '-' : '+';
	return (rate != 0) + format_bytes(buf, amount, t->style->bytes);
}

/* Counters and percentages, of a process or of a sum. */
static size_t put_figure(const struct table *t, const struct column *c, counter_mask have,
			 const uint64_t *value, char *buf)
{
	double percent;

	if (c->kind == COLUMN_PERCENT) {
		if (!column_percent(t->r->snapshot, c, have, value, &percent))
			return 0;
		return format_percent(buf, percent);
	}
	if (!(have & COUNTER_BIT(c->counter)))
		return 0;
	return format_bytes(buf, value[c->counter], t->style->bytes);
}

static size_t put_number(const struct table *t, const struct column *c, const struct process *p,
			 char *buf)
{
	int64_t v;

	if (!c->number(t->r->snapshot, p, &v))
		return 0;
	return c->kind == COLUMN_TIME ? format_time(buf, v, TIME_TABLE) : format_i64(buf, v);
}

static void cell_of_text(const struct table *t, size_t i, const struct process *p,
			 struct cell *cell)
{
	const struct column *c = t->column[i];
	bool is_user = c->needs & NEEDS_USER;
	const char *text = is_user && t->style->numeric ? NULL : c->text(p);

	if (text)
		cell_text(t, i, text, cell);
	else
		cell_figure(cell,
			    is_user && p->uid != UID_NONE ? format_u64(cell->buf, p->uid) : 0);
}

static void cell_of_process(const struct table *t, size_t i, const struct process *p,
			    struct cell *cell)
{
	const struct column *c = t->column[i];
	int64_t change;
	size_t len = 0;

	cell->missing = false;
	switch (c->kind) {
	case COLUMN_COUNTER:
	case COLUMN_PERCENT:
		len = put_figure(t, c, p->have, p->value, cell->buf);
		break;
	case COLUMN_CHANGE:
		len = change_of_row(p, c->counter, &change) ? put_change(t, change, cell->buf) : 0;
		break;
	case COLUMN_NUMBER:
	case COLUMN_TIME:
		len = put_number(t, c, p, cell->buf);
		break;
	case COLUMN_TEXT:
		cell_of_text(t, i, p, cell);
		return;
	}
	cell_figure(cell, len);
}

/* Only what is counted in bytes has one; and cgroups may lie in one another. */
static bool has_sum(const struct column *c)
{
	return (c->kind == COLUMN_COUNTER || c->kind == COLUMN_PERCENT ||
		c->kind == COLUMN_CHANGE) &&
	       !(c->needs & NEEDS_CONTROLLER);
}

/* Of the total alone: who has ended was part of it, and of nothing else. */
static size_t put_sum_change(const struct table *t, const struct column *c,
			     const struct totals *sum, char *buf)
{
	const struct change *change = t->r->change;
	int64_t bytes;

	if (sum != &t->r->totals || !change || !change->known ||
	    !change_of_totals(c->counter, sum, &change->before, &bytes))
		return 0;
	return put_change(t, bytes, buf);
}

static void cell_of_sum(const struct table *t, size_t i, const struct totals *sum,
			struct cell *cell)
{
	const struct column *c = t->column[i];

	cell->missing = false;
	if (!has_sum(c)) {
		cell_text(t, i, "", cell);
		return;
	}
	if (c->kind == COLUMN_CHANGE)
		cell_figure(cell, put_sum_change(t, c, sum, cell->buf));
	else
		cell_figure(cell, put_figure(t, c, sum->have, sum->value, cell->buf));
}

static void widen(struct table *t, size_t i, unsigned width)
{
	if (t->width[i] < width)
		t->width[i] = width;
}

/* The widest that a cell of this column can be: once one is, no other need be formatted to see. */
static unsigned widest(const struct table *t, size_t i)
{
	const struct column *c = t->column[i];

	if (c->kind == COLUMN_COUNTER && !t->style->bytes)
		return FORMAT_SIZE_MAX;
	if (c->kind == COLUMN_CHANGE && !t->style->bytes)
		return FORMAT_SIZE_MAX + 1;
	if (c->kind == COLUMN_TIME)
		return FORMAT_TIME_TABLE_MAX;
	if (c->kind == COLUMN_TEXT && i + 1 == t->columns)
		return 0;
	if (c->kind == COLUMN_TEXT && !t->style->wide)
		return TEXT_WIDE;
	return UINT_MAX;
}

static bool has_others(const struct table *t)
{
	return t->r->others_count && !t->style->only_total;
}

void table_measure(struct table *t, struct process *const *rows, size_t count)
{
	const struct result *r = t->r;
	struct cell cell;

	for (size_t i = 0; i < t->columns; i++) {
		if (t->style->header)
			widen(t, i, (unsigned)strlen(t->column[i]->header));
		if (has_others(t)) {
			cell_of_sum(t, i, &r->others, &cell);
			widen(t, i, cell.width);
		}
		cell_of_sum(t, i, &r->totals, &cell);
		widen(t, i, cell.width);
	}
	for (size_t i = 0; !t->style->only_total && i < t->columns; i++) {
		unsigned most = widest(t, i);

		for (size_t row = 0; row < count && t->width[i] < most; row++) {
			cell_of_process(t, i, rows[row], &cell);
			widen(t, i, cell.width);
		}
	}
}

static void write_cell(const struct table *t, struct line *l, size_t i, const struct cell *cell)
{
	bool left = t->column[i]->kind == COLUMN_TEXT;
	unsigned pad = t->width[i] > cell->width ? t->width[i] - cell->width : 0;
	enum line_attr attr = l->attr;

	if (i)
		line_blanks(l, GAP);
	if (!left)
		line_blanks(l, pad);
	if (cell->missing && attr == ATTR_NORMAL)
		l->attr = ATTR_DIM;
	if (cell->text)
		line_text(l, cell->text, text_limit(t, i));
	else
		line_ascii(l, cell->buf, cell->len);
	l->attr = attr;
	if (left)
		line_blanks(l, pad);
}

void table_header(const struct table *t, struct line *l)
{
	enum line_attr attr = l->attr;

	for (size_t i = 0; i < t->columns; i++) {
		struct cell cell = {.text = t->column[i]->header};

		l->attr = t->column[i] == t->marked ? ATTR_REVERSE : attr;
		cell.width = (unsigned)strlen(cell.text);
		write_cell(t, l, i, &cell);
	}
	l->attr = attr;
}

void table_row(const struct table *t, struct line *l, const struct process *p)
{
	struct cell cell;

	for (size_t i = 0; i < t->columns; i++) {
		cell_of_process(t, i, p, &cell);
		write_cell(t, l, i, &cell);
	}
}

void table_sums(const struct table *t, struct line *l, const struct totals *sum)
{
	size_t count = t->last_is_text ? t->columns - 1 : t->columns;
	struct cell cell;

	for (size_t i = 0; i < count; i++) {
		cell_of_sum(t, i, sum, &cell);
		write_cell(t, l, i, &cell);
	}
	if (count)
		line_blanks(l, GAP);
}

/* The total without a header is for programs: figures and nothing else. */
static void write_figures(struct table *t, struct line *l)
{
	const struct column *summed[COLUMNS_MAX];
	size_t count = 0;

	for (size_t i = 0; i < t->columns; i++) {
		if (has_sum(t->column[i]))
			summed[count++] = t->column[i];
	}
	t->column = summed;
	t->columns = count;
	t->last_is_text = false;
	table_sums(t, l, &t->r->totals);
	line_end(l);
}

void table_start(struct table *t, const struct result *r, const struct table_style *style)
{
	*t = (struct table){.r = r,
			    .style = style,
			    .column = style->columns->item,
			    .columns = style->columns->count};
	t->last_is_text = t->columns && t->column[t->columns - 1]->kind == COLUMN_TEXT;
}

void render_table(struct strbuf *out, const struct result *r, const struct table_style *style)
{
	struct line line = {.out = out, .width = style->width, .color = style->color};
	struct table t;

	table_start(&t, r, style);
	if (style->only_total && !style->header) {
		write_figures(&t, &line);
		return;
	}
	table_measure(&t, r->rows, r->row_count);
	if (style->header) {
		line.attr = ATTR_BOLD;
		table_header(&t, &line);
		line_end(&line);
	}
	for (size_t i = 0; !style->only_total && i < r->row_count; i++) {
		table_row(&t, &line, r->rows[i]);
		line_end(&line);
	}
	if (has_others(&t)) {
		table_sums(&t, &line, &r->others);
		line_printf(&line, TEXT_ELLIPSIS " %zu more", r->others_count);
		line_end(&line);
	}
	line.attr = ATTR_BOLD;
	/* Never cut: its words say what is missing or wrong. */
	line.width = 0;
	table_sums(&t, &line, &r->totals);
	summary_write(&line, r);
	summary_swap(&line, r);
	line_end(&line);
}
