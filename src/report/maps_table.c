// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The table of mappings: which columns fit the terminal, and their cells. */
#include <inttypes.h>
#include <stdio.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "report/report.h"
#include "write/grid.h"
#include "write/text.h"

/* A narrower terminal leaves out counters that are 0 in the total. */
#define WIDE_ENOUGH 150
/* A terminal narrower than this also leaves out the end of the address, SHARED and SWAP_PSS. */
#define NARROW 110

struct maps_table {
	const struct maps_report *r;
	const struct table_style *style;
	struct grid grid;
	char address[40]; /* of the current row: "7f0123456000-7f0123457000" */
};

static bool narrower(const struct maps_table *t, unsigned width)
{
	return t->style->width && t->style->width < width;
}

static bool has_column(const struct maps_table *t, int column)
{
	int counter = column - MAP_COLUMN_COUNTERS;

	bool each = t->r->kind == MAP_ROWS_EACH;

	if (column == MAP_COLUMN_PID)
		return each && t->r->several;
	if (column == MAP_COLUMN_ADDRESS || column == MAP_COLUMN_PERM)
		return each;
	if (column == MAP_COLUMN_PROCS || column == MAP_COLUMN_MAPS)
		return !each;
	if (column == MAP_COLUMN_KIND)
		return t->r->kind == MAP_ROWS_KINDS;
	if (column == MAP_COLUMN_NAME || !narrower(t, WIDE_ENOUGH))
		return true;
	if ((counter == MAPS_SHARED || counter == MAPS_SWAP_PSS) && narrower(t, NARROW))
		return false;
	return counter <= MAPS_SHARED || !map_has(&t->r->total, counter) ||
	       t->r->total.value[counter];
}

static struct cell cell_of_address(struct maps_table *t, const struct mapping *m)
{
	int len = snprintf(t->address, sizeof(t->address), "%08" PRIx64, m->start);

	if (!narrower(t, NARROW))
		snprintf(t->address + len, sizeof(t->address) - (size_t)len, "-%08" PRIx64, m->end);
	return cell_text(t->address);
}

static struct cell cell_of_size(const struct map_counters *f, size_t column)
{
	size_t counter = column - MAP_COLUMN_COUNTERS;

	return cell_bytes(map_has(f, counter), f->value[counter]);
}

static struct cell cell_of_mapping(struct maps_table *t, const struct mapping *m, size_t column)
{
	struct cell name;

	switch (column) {
	case MAP_COLUMN_PID:
		return cell_number(CELL_COUNT, true, m->pid);
	case MAP_COLUMN_ADDRESS:
		return cell_of_address(t, m);
	case MAP_COLUMN_PERM:
		return cell_text(m->perm);
	case MAP_COLUMN_PROCS:
		return cell_number(CELL_COUNT, true, m->processes);
	case MAP_COLUMN_MAPS:
		return cell_number(CELL_COUNT, true, m->mappings);
	case MAP_COLUMN_KIND:
		return cell_text(m->name);
	case MAP_COLUMN_NAME:
		if (t->r->group)
			return cell_text(m->group);
		name = cell_text(m->name);
		name.cut = m->name_cut;
		return name;
	default:
		return cell_of_size(&m->counters, column);
	}
}

static void fill(void *arg, size_t row, size_t first, size_t end, struct cell *ret)
{
	struct maps_table *t = arg;
	const struct maps_report *r = t->r;

	for (size_t i = first; i < end; i++)
		*ret++ = row < r->row_count
				 ? cell_of_mapping(t, r->rows[row], i)
				 : cell_of_size(row == GRID_TOTAL ? &r->total : &r->others, i);
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
	const struct maps_report *r = t->r;
	cleanup(strbuf_done) struct strbuf text = {};
	static const enum pss_status missing[] = {PSS_GONE, PSS_DENIED, PSS_TIMEOUT,
						  PSS_KERNEL_THREAD, PSS_UNSUPPORTED};
	size_t counted = 0, summed = 0, shared = 0;

	for (size_t i = 0; i < r->process_count; i++) {
		const struct maps_process *p = &r->process[i];

		counted += p->counted && (p->mappings || !r->chosen);
		/* The values of some mappings have no other total. */
		summed += p->counted && !p->total_exact && !r->chosen;
		shared += p->process->kind == PROCESS_USER && !p->process->mm_owner;
	}
	strbuf_printf(&text, "%zu mapping%s of %zu process%s", r->mappings,
		      r->mappings == 1 ? "" : "s", counted, counted == 1 ? "" : "es");
	if (shared)
		strbuf_printf(&text, "; %zu sharing the memory of another process", shared);
	for (size_t i = 0; i < ARRAY_SIZE(missing); i++) {
		size_t count = maps_report_count(r, missing[i]);

		if (count)
			strbuf_printf(&text, "; %zu %s", count, pss_status_name(missing[i]));
	}
	if (summed)
		strbuf_printf(&text, "; %zu changed while read: PSS is a sum of whole kB", summed);
	text_put_folded(out, strbuf_str(&text), 0, t->style->width);
}

static void add_column(struct maps_table *t, int column)
{
	bool size = column >= MAP_COLUMN_COUNTERS && column != MAP_COLUMN_NAME;
	bool text = column == MAP_COLUMN_ADDRESS || column == MAP_COLUMN_PERM ||
		    column == MAP_COLUMN_KIND || column == MAP_COLUMN_NAME;
	bool group = column == MAP_COLUMN_NAME && t->r->group;

	t->grid.column[t->grid.columns++] = (struct grid_column){
		.heading = group ? t->r->group->heading : map_column_header(column),
		.type = size   ? CELL_BYTES
			: text ? CELL_TEXT
			       : CELL_COUNT,
		.left = text,
		.middle = column == MAP_COLUMN_NAME,
		.hidden = !has_column(t, column),
		.summed = size,
	};
}

void render_maps_table(struct strbuf *out, const struct maps_report *r,
		       const struct table_style *style)
{
	struct maps_table t = {.r = r, .style = style};

	t.grid.style = style;
	t.grid.source = (struct grid_source){.fill = fill,
					     .summary = put_summary,
					     .notes = put_notes,
					     .arg = &t,
					     .rows = r->row_count,
					     .others = r->others_count};
	t.grid.unknown = ATTR_DIM;
	for (int column = 0; column < MAP_COLUMNS; column++)
		add_column(&t, column);
	grid_place(&t.grid);
	grid_print(out, &t.grid);
}
