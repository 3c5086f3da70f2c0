// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The details of one row: identity, all counters, the parts of PSS, the cgroup and its limit,
 * history, and mappings by file, which are read on request. A process that has ended keeps its last
 * values.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "fields/top_said.h"
#include "top/head.h"
#include "top/panes.h"
#include "write/line.h"
#include "write/format.h"

static struct detail_pane *detail_of(struct pane *p)
{
	return (struct detail_pane *)p;
}

static int by_pss(const void *pa, const void *pb)
{
	const struct mapping *a = *(struct mapping *const *)pa, *b = *(struct mapping *const *)pb;
	uint64_t x = a->counters.value[MAPS_PSS] + a->counters.value[MAPS_SWAP_PSS];
	uint64_t y = b->counters.value[MAPS_PSS] + b->counters.value[MAPS_SWAP_PSS];

	if (x != y)
		return x < y ? 1 : -1;
	return strcmp(a->name, b->name);
}

int detail_set_maps(struct detail_pane *d, struct map_set *maps, enum pss_status status)
{
	map_set_free(d->maps);
	free(d->mapping);
	d->maps = maps;
	d->mapping = NULL;
	d->reading = false;
	d->maps_status = status;
	if (!maps)
		return 0;
	d->mapping = calloc(maps->count + 1, sizeof(*d->mapping));
	if (!d->mapping) {
		map_set_free(maps);
		d->maps = NULL;
		return -ENOMEM;
	}
	memcpy(d->mapping, maps->item, maps->count * sizeof(*d->mapping));
	qsort(d->mapping, maps->count, sizeof(*d->mapping), by_pss);
	return 0;
}

/* Copies what is shown after the row has ended: counters and the name. */
static void copy_row(struct detail_pane *d, const char *name, const struct row *r)
{
	const struct process *p = r->process;

	/* A zombie has lost its executable, and with it a better name. */
	if (p->kind != PROCESS_ZOMBIE || !*d->name)
		snprintf(d->name, sizeof(d->name), "%s", name);
	d->row = *p;
	d->row.charged = NULL;
	d->row.nodes = NULL;
	d->row.kernel = NULL;
	d->row.have &= ~COUNTER_BIT(COUNTER_NODES);
	d->row.name = d->name;
	d->row.user = d->row.cgroup = d->row.unit = d->row.container = d->row.cmdline = NULL;
	d->procs = r->procs;
}

void detail_update(struct detail_pane *d)
{
	const struct listing *rows = &d->pane.shared->rows;
	const struct row *r = listing_row(rows);

	d->ended = !r || !row_id_same(listing_id(rows, r->process), d->id);
	if (!d->ended)
		copy_row(d, listing_text(rows, r->process), r);
}

/* ---- keys ---- */

static unsigned detail_open(struct pane *p)
{
	struct listing *rows = &p->shared->rows;
	struct detail_pane *d = detail_of(p);

	if (!listing_row(rows))
		return PANE_REFUSE;
	listing_hold(rows);
	rows->cursor->loyal = true;
	detail_set_maps(d, NULL, PSS_SKIPPED);
	p->cursor = (struct cursor){.scrolls = true};
	d->id = rows->cursor->id;
	d->charged.charged = NULL;
	*d->name = '\0';
	detail_update(d);
	return VIEW_ASK_DETAIL;
}

static unsigned detail_close(struct pane *p)
{
	p->shared->rows.cursor->loyal = false;
	return 0;
}

static unsigned open_growth(struct pane *p)
{
	if (detail_of(p)->ended)
		return show_message(p->shared, "%d has ended", detail_of(p)->row.pid);
	return PANE_OPEN(PANE_GROWTH);
}

static const struct key_use keys[] = {
	{{'m'}, .ask = VIEW_ASK_DETAIL, .does = "reads the mappings"},
	{{'w'}, open_growth},
	{{0}},
};

/* ---- drawing ---- */

/* Goes on behind `used` columns, or on the next line if there are not `width` more. */
static void place_words(struct screen *s, unsigned *used, unsigned width)
{
	if (*used && *used + 2 + width > s->width) {
		screen_line(s, LOOK_PLAIN);
		*used = 0;
	}
	line_blanks(&s->pen, *used ? 2 : 0);
	*used += width + (*used ? 2 : 0);
}

/* Sentences as parts of a line, with two blanks between them. */
static void put_parts(struct screen *s, unsigned *used, const struct said *said)
{
	for (const char *const *text = said->sentences->text; *text; text++) {
		cleanup(strbuf_done) struct strbuf part = {};
		struct line l = {.out = &part};
		unsigned width;

		if (!say_sentence(&l, said, *text))
			continue;
		text_fit(strbuf_str(&part), part.len, UINT_MAX, &width);
		place_words(s, used, width);
		line_text(&s->pen, strbuf_str(&part), 0);
	}
}

static const struct snapshot *snapshot_of(const struct detail_pane *d)
{
	return d->pane.shared->rows.r->snapshot;
}

static struct said said_of(const struct detail_pane *d, const struct detail_said *row,
			   const struct sentences *sentences)
{
	return (struct said){sentences, row, snapshot_of(d), d->pane.shared->style.bytes};
}

static void draw_words(const struct detail_pane *d, struct screen *s, const struct detail_said *row)
{
	const struct said title = said_of(d, row, &detail_title),
			  facts = said_of(d, row, &detail_facts),
			  cgroup = said_of(d, row, &detail_cgroup);
	unsigned used = 0;

	pane_say(s, &title, LOOK_HEADER);
	put_parts(s, &used, &facts);
	if (used)
		screen_line(s, LOOK_PLAIN);
	pane_say(s, &cgroup, LOOK_PLAIN);
}

/* Draws the parts of PSS and swap as a bar. */
static void draw_parts(struct detail_pane *d, struct screen *s, const struct process *p)
{
	static const enum counter counter[] = {COUNTER_PSS_ANON, COUNTER_PSS_FILE,
					       COUNTER_PSS_SHMEM, COUNTER_SWAP_PSS};
	struct bar_part part[ARRAY_SIZE(counter)] = {{"anon", '|', ATTR_GREEN},
						     {"file", '#', ATTR_BLUE},
						     {"shmem", ':', ATTR_CYAN},
						     {"swap", '~', ATTR_BOLD}};
	unsigned width = s->width > 100 ? 40 : s->width / 4, used = width + 2;
	bool bytes = d->pane.shared->style.bytes;
	uint64_t total = 0;

	for (size_t i = 0; i < ARRAY_SIZE(part); i++) {
		part[i].known = process_has(p, counter[i]);
		part[i].bytes = (int64_t)process_value(p, counter[i]);
		total += part[i].known ? process_value(p, counter[i]) : 0;
	}
	bar_put(&s->pen, part, ARRAY_SIZE(part), total, width);
	for (size_t i = 0; i < ARRAY_SIZE(part); i++) {
		char size[FORMAT_MAX + 1] = "-";

		if (part[i].known)
			size[format_bytes(size, process_value(p, counter[i]), bytes)] = '\0';
		place_words(s, &used, (unsigned)(strlen(part[i].name) + strlen(size) + 2));
		bar_put_name(&s->pen, &part[i]);
		line_printf(&s->pen, "%s", size);
	}
	screen_line(s, LOOK_PLAIN);
}

/* They are there if they were asked for. */
#define ASKED                                                                                      \
	(COUNTER_BIT(COUNTER_FREED) | COUNTER_BIT(COUNTER_LAZYFREE) |                              \
	 COUNTER_BIT(COUNTER_HUGETLB_PSS) | COUNTER_BIT(COUNTER_THP_REST) |                        \
	 COUNTER_BIT(COUNTER_GPU) | COUNTER_BIT(COUNTER_DMABUF) | COUNTER_BIT(COUNTER_KERNEL))

/*
 * Draws the counters, without the parts of swap_ram and of swap, in as many columns as fit. `few`:
 * without those that are 0 or unknown.
 */
static void draw_counters(struct detail_pane *d, struct screen *s, const struct process *p,
			  bool few)
{
	unsigned cell = d->pane.shared->style.bytes ? 36 : 26, columns = s->width / cell, at = 0;

	columns = columns ? columns : 1;
	for (int c = 0; c < COUNTERS_OF_PROCESS; c++) {
		char buf[FORMAT_MAX];
		size_t len = 1;

		if (COUNTER_BIT(c) & COUNTERS_OF_SWAP_COSTS && c != COUNTER_SWAP_RAM)
			continue;
		if (COUNTER_BIT(c) & ASKED && !process_has(p, c))
			continue;
		if (few && !(process_has(p, c) && process_value(p, c)))
			continue;
		buf[0] = '-';
		if (process_has(p, c))
			len = format_bytes(buf, p->value[c],
					   d->pane.shared->style.bytes ||
						   counter_table[c].unit != UNIT_BYTES);
		line_printf(&s->pen, "%-11s", counter_table[c].key);
		line_blanks(&s->pen, cell - 11 - 3 - (unsigned)len);
		line_ascii(&s->pen, buf, len);
		if (++at % columns == 0)
			screen_line(s, LOOK_PLAIN);
		else
			line_blanks(&s->pen, 3);
	}
	if (at % columns)
		screen_line(s, LOOK_PLAIN);
}

static void draw_history(const struct detail_pane *d, struct screen *s, struct detail_said *row)
{
	const struct said said = said_of(d, row, &detail_history);
	unsigned width = s->width > 60 ? s->width - 50 : s->width / 4 + 1, used = 9 + width;
	int64_t since_ms;

	line_printf(&s->pen, "PSS+SWAP ");
	if (history_draw(&d->pane.shared->rows.history, &s->pen, width, &row->least, &row->most,
			 &since_ms))
		row->history_ms = snapshot_of(d)->time_ms - since_ms;
	else
		line_printf(&s->pen, "-");
	put_parts(s, &used, &said);
	screen_line(s, LOOK_PLAIN);
}

static const char *why_no_maps(const struct detail_pane *d)
{
	if (!d->row.pid)
		return "shown for processes, not for groups";
	if (!d->pane.shared->facts.can_map)
		return "recordings do not contain them";
	if (d->reading)
		return "reading…";
	return maps_unread[d->maps_status] ? maps_unread[d->maps_status]
					   : "not read (press m to read them)";
}

/* Draws the visible part of the table that maps --by-file prints. */
static void draw_maps(struct detail_pane *d, struct screen *s)
{
	cleanup(strbuf_done) struct strbuf text = {};
	struct cursor *c = &d->pane.cursor;
	const struct table_style style = pane_style(&d->pane, s);
	const struct maps_process one = {.process = &d->row, .status = PSS_OK, .counted = true};
	struct maps_report r = {.snapshot = d->pane.shared->rows.r->snapshot,
				.kind = MAP_ROWS_FILES,
				.process = &one,
				.process_count = 1};
	size_t room = s->height - 1 > s->count ? s->height - 1 - s->count : 0;
	size_t rows = room > 3 ? room - 3 : 0; /* headings, the total, and what it sums */

	if (!d->maps) {
		line_printf(&s->pen, "mappings: %s", why_no_maps(d));
		screen_line(s, LOOK_PLAIN);
		return;
	}
	cursor_place(c, d->maps->count, rows);
	r.rows = d->mapping + c->first;
	r.row_count = cursor_shown(c);
	r.total = d->maps->total;
	r.mappings = d->maps->mappings;
	render_maps_table(&text, &r, &style);
	pane_text(NULL, strbuf_str(&text), true, s);
}

/* `beside`: without what would have to be read, and counters that are 0 or unknown. */
static void draw(struct detail_pane *d, struct screen *s, const struct process *p, bool beside)
{
	const struct shared *v = d->pane.shared;
	struct detail_said row = {
		.row = {.process = (struct process *)p, .procs = d->procs},
		.charged = {.process = &d->charged},
		.name = d->name,
		.group = v->rows.r->group ? v->rows.r->group->key : NULL,
		.ended = d->ended,
		.shows_cmdline = v->set.cmdline,
	};
	const struct said no_pss = said_of(d, &row, &detail_no_pss),
			  kernel = said_of(d, &row, &detail_kernel);

	draw_words(d, s, &row);
	draw_history(d, s, &row);
	draw_parts(d, s, p);
	draw_counters(d, s, p, beside);
	pane_say(s, &kernel, LOOK_PLAIN);
	pane_say(s, &no_pss, LOOK_PLAIN);
}

static const char *detail_draw(struct pane *pane, struct screen *s)
{
	struct detail_pane *d = detail_of(pane);
	const struct process *row = listing_process(&pane->shared->rows);

	draw(d, s, d->ended || !row ? &d->row : row, false);
	draw_maps(d, s);
	return "Esc back  up_down mappings  m read again  w growth  b bytes  Space pause  ? help";
}

void detail_draw_beside(struct shared *v, struct screen *s)
{
	const struct process *p = listing_process(&v->rows);
	struct detail_pane d = {.pane.shared = v, .id = listing_id(&v->rows, p)};

	detail_update(&d);
	draw(&d, s, p, true);
}

const struct pane_class detail_class = {
	.keys = keys,
	.where = "in the details (i shows them)",
	.leaf = true,
	.open = detail_open,
	.close = detail_close,
	.draw = detail_draw,
};
