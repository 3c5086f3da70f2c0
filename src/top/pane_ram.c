// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The RAM of the machine by class, and what changed since the pane was first shown. */
#include <stdlib.h>
#include <string.h>

#include "fields/system_said.h"
#include "top/head.h"
#include "top/panes.h"
#include "write/format.h"

#define TITLE_WIDE   22
#define PERCENT_WIDE 6

static unsigned ram_open(struct pane *p)
{
	p->cursor = (struct cursor){.scrolls = true};
	return VIEW_ASK_RAM;
}

void ram_set(struct ram_pane *r, const struct ram *ram)
{
	r->known = ram;
	if (!ram)
		return;
	r->ram = *ram;
	if (!ram_is_counted(&r->first) && ram_is_counted(ram))
		r->first = *ram;
}

/* ---- drawing ---- */

static int by_size(const void *pa, const void *pb)
{
	const struct ram_figure *a = *(const struct ram_figure *const *)pa,
				*b = *(const struct ram_figure *const *)pb;

	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? 1 : -1;
	return a->class < b->class ? -1 : 1;
}

/* The classes that have memory, largest first. */
static size_t sort_figures(const struct ram *ram, const struct ram_figure *ret[RAM_CLASSES])
{
	size_t count = 0;

	for (int i = 0; i < RAM_CLASSES; i++) {
		if (ram->figure[i].known && ram->figure[i].bytes)
			ret[count++] = &ram->figure[i];
	}
	qsort(ret, count, sizeof(*ret), by_size);
	return count;
}

/* The classes as rows of a grid. */
struct ram_rows {
	const struct ram_pane *pane;
	const struct ram_figure *figure[RAM_CLASSES];
};

/* What it has more than at first. */
static struct cell cell_of_change(const struct ram_pane *r, const struct ram_figure *f)
{
	const struct ram_figure *first = &r->first.figure[f->class];
	bool known = ram_is_counted(&r->ram) && ram_is_counted(&r->first) && first->known;

	if (known && f->bytes == first->bytes)
		return (struct cell){.type = CELL_EMPTY};
	return cell_number(CELL_CHANGE, known, (int64_t)(f->bytes - first->bytes));
}

static void fill(void *arg, size_t row, size_t first, size_t end, struct cell *ret)
{
	const struct ram_rows *rows = arg;
	const struct ram *ram = &rows->pane->ram;
	const struct ram_figure *f = rows->figure[row];
	const struct cell cells[] = {
		cell_text(ram_class_table[f->class].title),
		cell_bytes(true, f->bytes),
		cell_percent(ram->frames, 100 * (double)f->bytes / (double)ram->frames),
		cell_of_change(rows->pane, f),
	};

	memcpy(ret, cells + first, (end - first) * sizeof(*cells));
}

static void draw_classes(struct ram_pane *r, struct screen *s)
{
	const struct table_style style = pane_style(&r->pane, s);
	const unsigned size = style.bytes ? 13 : FORMAT_SIZE_MAX;
	struct cursor *c = &r->pane.cursor;
	struct ram_rows rows = {.pane = r};
	struct grid g = {
		.style = &style,
		.source = {.fill = fill, .arg = &rows, .no_total = true},
		.columns = 4,
		.column = {{"RAM", CELL_TEXT, .left = true, .min = TITLE_WIDE},
			   {"SIZE", CELL_BYTES, .min = size},
			   {"%RAM", CELL_PERCENT, .min = PERCENT_WIDE},
			   {"CHANGE", CELL_CHANGE, .min = size + 3}},
	};
	size_t count = sort_figures(&r->ram, rows.figure);

	grid_place(&g);
	grid_put_heading(&g, &s->pen);
	screen_line(s, LOOK_HEADER);
	cursor_place(c, count, s->height - 1 > s->count ? s->height - 1 - s->count : 0);
	for (size_t i = c->first; i < c->first + cursor_shown(c); i++) {
		grid_put_row(&g, &s->pen, i);
		screen_line(s, LOOK_PLAIN);
	}
}

static const char *ram_draw(struct pane *p, struct screen *s)
{
	struct ram_pane *r = (struct ram_pane *)p;
	struct line *l = &s->pen;

	head_draw(p->shared, s, true, r->known ? &r->ram : NULL);
	if (!r->known) {
		line_printf(l, "this recording has no page frames near this snapshot");
		screen_line(s, LOOK_PLAIN);
		return "Esc back  ? help";
	}
	head_put_paused(p->shared, l);
	say_first(l, &(struct said){&ram_state_said, &r->ram, &r->first});
	screen_line(s, LOOK_PLAIN);
	pane_say(s, &(struct said){&ram_deleted_said, &r->ram, NULL, p->shared->style.bytes},
		 LOOK_PLAIN);
	draw_classes(r, s);
	return "Esc back  up_down more  b bytes  Space pause  ? help";
}

static const struct key_use keys[] = {{{'R'}, .ask = PANE_CLOSE}, {{0}}};

const struct pane_class ram_pane_class = {
	.keys = keys,
	.leaf = true,
	.open = ram_open,
	.draw = ram_draw,
};
