// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes the table of growth: a row for each place, and notes below the rows. */
#include <limits.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/count.h"
#include "fields/growth_said.h"
#include "query/delta_tracker.h"
#include "report/growth.h"
#include "report/growth_rows.h"
#include "report/growth_text.h"
#include "write/field_text.h"
#include "write/say.h"
#include "write/text.h"

#define CODE_MOST   240 /* bytes of callers in a line, unless all are wanted */
#define NAME_MOST   60	/* columns of a name, likewise */
#define NAME_LEAST  12	/* less of a name says nothing */
#define ROOM_SMALL  60	/* columns for the code of a row: then words are left out */
#define PERIOD_MOST 4	/* functions that call each other in turn */

struct growth_table {
	const struct growth *g;
	const struct growth_view *view;
	struct grid grid;
	struct growth_rows of;
	struct growth_row_list list;
	size_t shown;
	struct growth_row others;
	struct strbuf code, line, name; /* of the current row */
	struct field_list columns;
	const struct field *still, *held, *least; /* these columns */
};

/* ---- the code of a row ---- */

/* How often the first `period` frames come one after the other. */
static size_t count_repeats(const uint32_t *frame, size_t count, size_t period)
{
	size_t n = 1;

	while ((n + 1) * period <= count &&
	       memcmp(frame, frame + n * period, period * sizeof(*frame)) == 0)
		n++;
	return n;
}

/* How many functions call each other in turn, from the first on, and how often; 1: none does. */
static size_t find_period(const uint32_t *frame, size_t count, size_t *ret_times)
{
	for (size_t period = 1; period <= PERIOD_MOST; period++) {
		*ret_times = count_repeats(frame, count, period);
		if (*ret_times > 1)
			return period;
	}
	return 1;
}

/* The code of a row while it is put together: what it has room for. */
struct code_line {
	struct growth_table *t;
	unsigned room; /* columns that are left; UINT_MAX: no end */
	unsigned name; /* columns of a name, at most */
	bool full;     /* something had no room */
	size_t parts;  /* that are there: functions, or some that call each other in turn */
};

static unsigned width_of(const char *s)
{
	unsigned width;

	text_fit(s, strlen(s), UINT_MAX, &width);
	return width;
}

/* False if there is no room; then nothing is written. */
static bool put_text(struct code_line *c, const char *text)
{
	unsigned width = width_of(text);

	if (width > c->room)
		return false;
	c->room -= c->room < UINT_MAX ? width : 0;
	strbuf_puts(&c->t->code, text);
	return true;
}

static bool put_name(struct code_line *c, const struct growth_frame *f)
{
	struct strbuf *name = &c->t->name;
	cleanup(strbuf_done) struct strbuf whole = {};
	unsigned most = c->name < c->room ? c->name : c->room;

	strbuf_clear(name);
	growth_put_frame(&whole, f);
	if (c->name == UINT_MAX)
		strbuf_puts(name, strbuf_str(&whole));
	else
		growth_put_short(name, strbuf_str(&whole), most > NAME_LEAST ? most : NAME_LEAST);
	strbuf_take_error(&c->t->code, &whole);
	return put_text(c, strbuf_str(name));
}

/* The first `count` frames, as callers of each other. */
static bool put_callers(struct code_line *c, const uint32_t *frame, size_t count)
{
	bool done = true;

	for (size_t i = 0; done && i < count; i++)
		done = (!i || put_text(c, " < ")) && put_name(c, &c->t->g->frame[frame[i]]);
	return done;
}

/* Functions that call themselves, or each other in turn: once, and how often. */
static bool put_turns(struct code_line *c, const uint32_t *frame, size_t period, size_t times)
{
	char text[32] = "";

	if (times > 1)
		snprintf(text, sizeof(text), "%s \xc3\x97%zu", period > 1 ? ")" : "", times);
	return (period == 1 || put_text(c, "(")) && put_callers(c, frame, period) &&
	       put_text(c, text);
}

/* Writes the callers that there is room for. One that does not fit is removed again. */
static void put_path(struct code_line *c, const struct growth_stack *s)
{
	struct strbuf *code = &c->t->code;

	for (size_t i = 0, times; i < s->frames && !c->full;) {
		size_t period = find_period(s->frame + i, s->frames - i, &times);
		size_t len = code->len;
		unsigned room = c->room;

		if (c->name < UINT_MAX && len > CODE_MOST) {
			strbuf_printf(code, " < " TEXT_ELLIPSIS " %zu more", s->frames - i);
			return;
		}
		c->full = (i && !put_text(c, " < ")) || !put_turns(c, s->frame + i, period, times);
		c->parts += !c->full;
		if (c->full) {
			code->len = len;
			c->room = room;
		}
		i += period * times;
	}
}

/* False if callers had no room. `room`: 0: any. */
static bool put_code(struct growth_table *t, const struct growth_stack *s, unsigned room)
{
	const unsigned part = room * 6 / 10 > 16 ? room * 6 / 10 : 16;
	struct code_line c = {
		.t = t,
		.room = room ? room : UINT_MAX,
		.name = t->grid.style->wide	    ? UINT_MAX
			: !room || part > NAME_MOST ? NAME_MOST
						    : part,
	};

	strbuf_clear(&t->code);
	put_path(&c, s);
	/* A name that stands alone has all the room. */
	if (room && s->frames && c.parts < 2 && (c.full || s->frames == 1)) {
		strbuf_clear(&t->code);
		c.room = room;
		c.name = room < NAME_MOST ? room : NAME_MOST;
		put_name(&c, &t->g->frame[s->frame[0]]);
	}
	return !c.full;
}

/*
 * "remember < serve < main (+12 paths)". In a terminal the end has its room first, then the place,
 * then callers.
 */
static const char *code_text(struct growth_table *t, const struct growth_row *r, bool last)
{
	static const char more[] = " < " TEXT_ELLIPSIS;
	unsigned room = last && !t->grid.style->wide ? grid_room(&t->grid) : 0, kept;
	bool whole = !r->sum.truncated;
	char end[64] = "";

	if (r->joined) {
		strbuf_clear(&t->code);
		strbuf_printf(&t->code, "%zu %s", r->joined, r->why);
		return strbuf_str(&t->code);
	}
	if (r->paths > 1)
		snprintf(end, sizeof(end), room && room < ROOM_SMALL ? " (+%zu)" : " (+%zu %s)",
			 r->paths - 1, count_word(r->paths - 1, "path", "paths"));
	kept = width_of(end) + (whole ? 0 : width_of(more));
	for (bool fits = false; !fits;) {
		unsigned left = room > kept + NAME_LEAST ? room - kept : NAME_LEAST;

		fits = put_code(t, &r->sum, room ? left : 0) || !whole;
		/* Once more, with room for the mark of what is missing. */
		kept += fits ? 0 : width_of(more);
		whole &= fits;
	}
	strbuf_puts(&t->code, whole ? "" : more);
	strbuf_puts(&t->code, end);
	return strbuf_str(&t->code);
}

/* The line of source code of the place. NULL: not known. */
static const char *source_text(struct growth_table *t, const struct growth_stack *s)
{
	strbuf_clear(&t->line);
	if (!s->frames || !t->g->frame[s->frame[0]].source)
		return NULL;
	growth_put_line(&t->line, &t->g->frame[s->frame[0]]);
	return strbuf_str(&t->line);
}

static struct cell cell_of_row(struct growth_table *t, const struct growth_row *r,
			       const struct field *f)
{
	bool last = f == t->columns.item[t->columns.count - 1];
	struct cell cell;
	struct value v;

	t->of.code = f->type == FIELD_TEXT ? code_text(t, r, last) : NULL;
	t->of.line = f->type == FIELD_TEXT ? source_text(t, &r->sum) : NULL;
	/* Where blocks are missing, what is held is at least this. */
	v = field_value(f == t->held && t->g->heap.at_least ? t->least : f, &r->sum, &t->of);
	if (f->flags & FIELD_SINCE)
		v = value_signed(t->g->recent_us, delta_rate(v.number, t->g->recent_us));
	cell = cell_of_value(f, v);
	cell.at_least =
		(f == t->still && v.known && growth_still_most(&r->sum) > r->sum.resident) ||
		(f == t->held && t->g->heap.at_least);
	return cell;
}

static void fill(void *arg, size_t row, size_t first, size_t end, struct cell *ret)
{
	struct growth_table *t = arg;
	const struct growth_row all = {.sum = t->list.all};
	const struct growth_row *r = row < t->shown	 ? t->list.row[row]
				     : row == GRID_TOTAL ? &all
							 : &t->others;

	for (size_t i = first; i < end; i++)
		*ret++ = cell_of_row(t, r, t->columns.item[i]);
}

static void put_summary(void *arg, struct line *l)
{
	const struct growth_table *t = arg;

	line_printf(l, "total, %zu %s", t->list.places,
		    t->view->paths ? count_word(t->list.places, "path", "paths")
				   : count_word(t->list.places, "place", "places"));
}

/* ---- notes ---- */

/* What HELD lacks, a line for each reason. */
static void say_lacks(struct strbuf *out, const struct growth *g, unsigned width)
{
	const struct growth_heap *h = &g->heap;

	for (size_t i = 0; h->known && i < h->not_probeds; i++) {
		struct growth_lack lack = {.first = &h->not_probed[i]};
		const struct said said = {&growth_lack_said, &lack, NULL, false};
		size_t first = 0;

		while (strcmp(h->not_probed[first].reason, lack.first->reason) != 0)
			first++;
		for (size_t k = i + 1; k < h->not_probeds; k++)
			lack.more += strcmp(h->not_probed[k].reason, lack.first->reason) == 0;
		if (first == i)
			say_all(out, &said, 0, width);
	}
}

static void put_notes(void *arg, struct strbuf *out)
{
	const struct growth_table *t = arg;
	const unsigned width = t->grid.style->width;
	const struct growth_all all = {growth_held_bounds(t->g, &t->list.all).most,
				       t->list.all.copied};
	struct said said = {&growth_accounted_said, t->g, &all, SIZES_KB};

	say_all(out, &said, 0, width);
	said = (struct said){&growth_heap_said, t->g, &all, SIZES_ROUNDED};
	say_all(out, &said, 0, width);
	say_lacks(out, t->g, width);
	said.sentences = &growth_hints_said;
	say_all(out, &said, 0, width);
}

/* Writes the notes, too: the counters may have changed where no stack could be taken. */
static void put_nothing(struct growth_table *t, struct strbuf *out)
{
	strbuf_printf(out, "%s\n",
		      growth_sum(t->g->change) > 0 ? "no stack is known of what grew"
						   : "nothing grew");
	put_notes(t, out);
}

/* ---- the table ---- */

static void place_columns(struct growth_table *t)
{
	const struct table_style *style = t->grid.style;

	t->still = fields_find(&growth_columns, "still", 5);
	t->held = fields_find(&growth_columns, "held", 4);
	t->least = fields_find(&growth_columns, "held_least", 10);
	if (style->columns)
		t->columns = *style->columns;
	else
		growth_list_usual(&t->columns, t->g->heap.known, false);
	for (size_t i = 0; i < t->columns.count; i++) {
		const struct field *f = t->columns.item[i];
		bool asked = t->columns.asked[i] || t->view->chosen;
		struct grid_column *c = grid_add(&t->grid, f);

		c->summed = f->type != FIELD_TEXT;
		c->at_least = (f == t->still && t->g->resident_least) ||
			      (f == t->held && t->g->heap.at_least);
		c->asked = t->columns.asked[i];
		c->hidden = !asked && !growth_column_has(f, t->g);
	}
	grid_place(&t->grid);
}

static void done(struct growth_table *t)
{
	strbuf_done(&t->code);
	strbuf_done(&t->line);
	strbuf_done(&t->name);
	growth_rows_done(&t->list);
}

void render_growth_table(struct strbuf *out, const struct growth *g, const struct growth_view *view,
			 const struct table_style *style)
{
	const struct growth_rows_request request = {
		.paths = view->paths,
		.all = style->wide,
		.keys = &view->keys,
		.reverse = view->reverse,
	};
	cleanup(done) struct growth_table t = {
		.g = g, .view = view, .grid.style = style, .of.growth = g};
	int r = growth_rows_make(g, &request, &t.list);

	if (r == 0 && !t.list.rows) {
		put_nothing(&t, out);
	} else if (r == 0) {
		t.of.grown = t.list.grown;
		t.shown = view->rows < t.list.rows ? view->rows : t.list.rows;
		for (size_t i = t.shown; i < t.list.rows; i++)
			growth_stack_add(&t.others.sum, &t.list.row[i]->sum);
		t.grid.source = (struct grid_source){
			.fill = fill,
			.summary = put_summary,
			.notes = put_notes,
			.arg = &t,
			.rows = t.shown,
			.others = t.list.rows - t.shown,
		};
		t.grid.unknown = ATTR_DIM;
		place_columns(&t);
		grid_print(out, &t.grid);
		r = strbuf_error(&t.code) ? strbuf_error(&t.code) : strbuf_error(&t.line);
	}
	if (r && !out->error)
		out->error = r;
}
