// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Mappings for people: which columns there is room for, what stands in them. A first pass over the
 * rows finds the widths, as for processes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "render/format.h"
#include "render/line.h"
#include "zmem/render.h"

#define GAP 2

/* On a narrower terminal figures that are 0 everywhere leave their place to the name, */
#define WIDE_ENOUGH 150
/* and on this one the end of an address and what others tell do, too. */
#define NARROW 110

/* "7f0123456000-7f0123457000" */
#define ADDRESS_MAX 40

struct maps_table {
	const struct maps_report *r;
	const struct table_style *style;
	int column[MAP_COLUMNS];
	size_t columns;
	unsigned width[MAP_COLUMNS];
};

struct cell {
	char buf[ADDRESS_MAX];
	size_t len;
	bool missing;
};

static bool narrower(const struct maps_table *t, unsigned width)
{
	return t->style->width && t->style->width < width;
}

static bool has_column(const struct maps_table *t, int column)
{
	int figure = column - MAP_COLUMN_FIGURES;

	if (column == MAP_COLUMN_PID)
		return !t->r->by_file && t->r->several;
	if (column == MAP_COLUMN_ADDRESS || column == MAP_COLUMN_PERM)
		return !t->r->by_file;
	if (column == MAP_COLUMN_PROCS || column == MAP_COLUMN_MAPS)
		return t->r->by_file;
	if (column == MAP_COLUMN_NAME || !narrower(t, WIDE_ENOUGH))
		return true;
	if ((figure == MAPS_SHARED || figure == MAPS_SWAP_PSS) && narrower(t, NARROW))
		return false;
	return figure <= MAPS_SHARED || !map_has(&t->r->total, figure) || t->r->total.value[figure];
}

static void cell_size(const struct maps_table *t, const struct map_figures *f, int figure,
		      struct cell *ret)
{
	if (!map_has(f, figure)) {
		ret->buf[0] = '-';
		ret->len = 1;
		ret->missing = true;
	} else {
		ret->len = format_bytes(ret->buf, f->value[figure], t->style->bytes);
	}
}

static void cell_address(const struct maps_table *t, const struct mapping *m, struct cell *ret)
{
	int len = narrower(t, NARROW) ? snprintf(ret->buf, sizeof(ret->buf), "%08" PRIx64, m->start)
				      : snprintf(ret->buf, sizeof(ret->buf),
						 "%08" PRIx64 "-%08" PRIx64, m->start, m->end);

	ret->len = (size_t)len;
}

/* All but the name. */
static void cell_of(const struct maps_table *t, int column, const struct mapping *m,
		    struct cell *ret)
{
	*ret = (struct cell){.len = 0};
	switch (column) {
	case MAP_COLUMN_PID:
		ret->len = format_i64(ret->buf, m->pid);
		break;
	case MAP_COLUMN_ADDRESS:
		cell_address(t, m, ret);
		break;
	case MAP_COLUMN_PERM:
		ret->len = strlen(m->perm);
		memcpy(ret->buf, m->perm, ret->len);
		break;
	case MAP_COLUMN_PROCS:
		ret->len = format_u64(ret->buf, m->processes);
		break;
	case MAP_COLUMN_MAPS:
		ret->len = format_u64(ret->buf, m->mappings);
		break;
	default:
		cell_size(t, &m->figures, column - MAP_COLUMN_FIGURES, ret);
	}
}

static void cell_of_sum(const struct maps_table *t, int column, const struct map_figures *sum,
			struct cell *ret)
{
	*ret = (struct cell){.len = 0};
	if (column >= MAP_COLUMN_FIGURES)
		cell_size(t, sum, column - MAP_COLUMN_FIGURES, ret);
}

static void widen(struct maps_table *t, size_t i, size_t width)
{
	if (t->width[i] < width)
		t->width[i] = (unsigned)width;
}

static void measure(struct maps_table *t)
{
	struct cell cell;

	/* The last one is the name. */
	for (size_t i = 0; i + 1 < t->columns; i++) {
		if (t->style->header)
			widen(t, i, strlen(map_column_header(t->column[i])));
		cell_of_sum(t, t->column[i], &t->r->others, &cell);
		widen(t, i, cell.len);
		cell_of_sum(t, t->column[i], &t->r->total, &cell);
		widen(t, i, cell.len);
	}
	for (size_t row = 0; row < t->r->row_count; row++) {
		for (size_t i = 0; i + 1 < t->columns; i++) {
			cell_of(t, t->column[i], t->r->rows[row], &cell);
			widen(t, i, cell.len);
		}
	}
}

static void put(const struct maps_table *t, struct line *l, size_t i, const struct cell *cell)
{
	bool left = t->column[i] == MAP_COLUMN_ADDRESS || t->column[i] == MAP_COLUMN_PERM;
	unsigned pad = t->width[i] > cell->len ? t->width[i] - (unsigned)cell->len : 0;
	enum line_attr attr = l->attr;

	if (!left)
		line_blanks(l, pad);
	if (cell->missing && attr == ATTR_NORMAL)
		l->attr = ATTR_DIM;
	line_ascii(l, cell->buf, cell->len);
	l->attr = attr;
	line_blanks(l, GAP + (left ? pad : 0));
}

static void put_header(const struct maps_table *t, struct line *l)
{
	l->attr = ATTR_BOLD;
	for (size_t i = 0; i + 1 < t->columns; i++) {
		const char *header = map_column_header(t->column[i]);
		struct cell cell = {.len = strlen(header)};

		memcpy(cell.buf, header, cell.len);
		put(t, l, i, &cell);
	}
	line_text(l, map_column_header(MAP_COLUMN_NAME), 0);
	line_end(l);
}

static void put_row(const struct maps_table *t, struct line *l, const struct mapping *m)
{
	struct cell cell;

	for (size_t i = 0; i + 1 < t->columns; i++) {
		cell_of(t, t->column[i], m, &cell);
		put(t, l, i, &cell);
	}
	line_text(l, m->name, 0);
	if (m->name_cut)
		line_text(l, TEXT_ELLIPSIS, 0);
	line_end(l);
}

static void put_sums(const struct maps_table *t, struct line *l, const struct map_figures *sum)
{
	struct cell cell;

	for (size_t i = 0; i + 1 < t->columns; i++) {
		cell_of_sum(t, t->column[i], sum, &cell);
		put(t, l, i, &cell);
	}
}

/* What the total is of, and what is missing in it. */
static void put_words(struct line *l, const struct maps_report *r)
{
	static const enum pss_status missing[] = {PSS_GONE, PSS_DENIED, PSS_TIMEOUT,
						  PSS_KERNEL_THREAD, PSS_UNSUPPORTED};
	size_t counted = 0, summed = 0, shared = 0;

	for (size_t i = 0; i < r->process_count; i++) {
		const struct maps_process *p = &r->process[i];

		counted += p->counted;
		summed += p->counted && !p->total_exact;
		shared += p->process->kind == PROCESS_USER && !p->process->mm_owner;
	}
	line_printf(l, "total of %zu mapping%s of %zu process%s", r->mappings,
		    r->mappings == 1 ? "" : "s", counted, counted == 1 ? "" : "es");
	if (shared)
		line_printf(l, "; %zu with the memory of another one", shared);
	for (size_t i = 0; i < ARRAY_SIZE(missing); i++) {
		size_t count = maps_report_count(r, missing[i]);

		if (count)
			line_printf(l, "; %zu %s", count, pss_status_name(missing[i]));
	}
	if (summed)
		line_printf(l, "; %zu changed meanwhile, PSS is a sum of whole kB", summed);
}

/* The total for another program: figures, and not a word. */
static void put_figures(struct maps_table *t, struct line *l)
{
	size_t count = 0;

	for (size_t i = 0; i + 1 < t->columns; i++) {
		if (t->column[i] >= MAP_COLUMN_FIGURES)
			t->column[count++] = t->column[i];
	}
	t->columns = count + 1; /* the last one is the name, which a total has not */
	put_sums(t, l, &t->r->total);
	line_end(l);
}

void render_maps_table(struct strbuf *out, const struct maps_report *r,
		       const struct table_style *style)
{
	struct maps_table t = {.r = r, .style = style};
	struct line line = {.out = out, .width = style->width, .color = style->color};

	for (int column = 0; column < MAP_COLUMNS; column++) {
		if (has_column(&t, column))
			t.column[t.columns++] = column;
	}
	if (style->only_total && !style->header) {
		put_figures(&t, &line);
		return;
	}
	measure(&t);
	if (style->header)
		put_header(&t, &line);
	for (size_t i = 0; i < r->row_count; i++)
		put_row(&t, &line, r->rows[i]);
	if (r->others_count && !style->only_total) {
		put_sums(&t, &line, &r->others);
		line_printf(&line, TEXT_ELLIPSIS " %zu more", r->others_count);
		line_end(&line);
	}
	line.attr = ATTR_BOLD;
	/* Never cut: its words say what is missing. */
	line.width = 0;
	put_sums(&t, &line, &r->total);
	put_words(&line, r);
	line_end(&line);
}
