// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The table of growth by stack, its JSON and its folded stacks. */
#include "report/growth.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "fields/growth_fields.h"
#include "query/delta.h"
#include "report/folded.h"
#include "report/json.h"
#include "report/report.h"
#include "write/field_text.h"
#include "write/format.h"

#define CODE_MOST   240 /* bytes of callers in a line, unless all are wanted */
#define PERIOD_MOST 4	/* functions that call each other in turn */

/* The name of a frame, else the place in its file, else the address. */
static void put_frame(struct strbuf *out, const struct growth_frame *f)
{
	if (f->name)
		strbuf_puts(out, f->name);
	else if (f->module)
		strbuf_printf(out, "%s+0x%" PRIx64, f->module, f->offset);
	else
		strbuf_printf(out, "0x%" PRIx64, f->offset);
}

/* "leak.c:12": the source without its directories. */
static void put_line(struct strbuf *out, const struct growth_frame *f)
{
	const char *slash = strrchr(f->source, '/');

	strbuf_printf(out, "%s:%" PRIu64, slash ? slash + 1 : f->source, f->line);
}

/* ---- the table ---- */

/*
 * Rows are stacks, each from the place that allocates on: those that only differ inside of it are
 * one row. If lines are known, the place is a line, and the callers are functions.
 */
struct growth_table {
	const struct growth *g;
	struct grid grid;
	struct growth_rows of;
	struct growth_stack *row; /* by growth */
	uint32_t *frame;	  /* of the rows */
	size_t rows, shown;
	struct growth_stack others, all;
	struct strbuf code, line; /* of the current row */
	struct field_list columns;
};

/* Frames outside of the program's own: _start, and the C library that calls main. */
static bool is_outside(const struct growth_frame *f)
{
	return f->name && ((f->allocator && !f->interpreter) || strcmp(f->name, "_start") == 0);
}

static struct growth_stack make_row(const struct growth *g, const struct growth_stack *s)
{
	struct growth_stack r = *s;
	size_t first = 0;

	growth_place(g, s, &first);
	while (r.frames > first + 1 && is_outside(&g->frame[s->frame[r.frames - 1]]))
		r.frames--;
	r.frame += first;
	r.frames -= first;
	return r;
}

/*
 * Puts the frames of a row into a room of their own. Between functions that have names, their
 * interpreter says nothing. Returns the room behind the frames.
 */
static uint32_t *put_row_frames(const struct growth_table *t, struct growth_stack *r,
				uint32_t *room)
{
	const struct growth_frame *frame = t->g->frame;
	bool all = t->grid.style->wide || (r->frames && frame[r->frame[0]].interpreter);
	size_t count = 0;

	for (size_t i = 0; i < r->frames; i++) {
		uint32_t number = r->frame[i];

		if (!all && frame[number].interpreter)
			continue;
		/* Of callers the function alone. */
		room[count] = count && frame[number].source ? frame[number].function : number;
		count++;
	}
	r->frame = room;
	r->frames = count;
	return room + count;
}

static void add_row(struct growth_stack *to, const struct growth_stack *r)
{
	for (int i = 0; i < GROWTH_COUNTERS; i++)
		to->net[i] += r->net[i];
	to->recent += r->recent;
	to->gross += r->gross;
	to->resident += r->resident;
}

static int compare_code(const void *a, const void *b)
{
	const struct growth_stack *x = a, *y = b;
	const uint32_t *p = x->frame, *q = y->frame;

	if (x->frames != y->frames)
		return x->frames < y->frames ? -1 : 1;
	for (size_t i = 0; i < x->frames; i++) {
		if (p[i] != q[i])
			return p[i] < q[i] ? -1 : 1;
	}
	return x->truncated - y->truncated;
}

static int compare_growth(const void *a, const void *b)
{
	const struct growth_stack *x = a, *y = b;
	int64_t p = growth_sum(x->net), q = growth_sum(y->net);

	if (p != q)
		return p > q ? -1 : 1;
	if (x->gross != y->gross)
		return x->gross > y->gross ? -1 : 1;
	return compare_code(a, b);
}

/* What is still there. */
static int compare_still(const void *a, const void *b)
{
	const struct growth_stack *x = a, *y = b;

	if (x->resident != y->resident)
		return x->resident > y->resident ? -1 : 1;
	return compare_growth(a, b);
}

static int make_rows(struct growth_table *t, size_t shown)
{
	const struct growth *g = t->g;
	size_t frames = 1;
	uint32_t *room;

	for (size_t i = 0; i < g->stacks; i++)
		frames += g->stack[i].frames;
	t->row = calloc(g->stacks + 1, sizeof(*t->row));
	t->frame = room = calloc(frames, sizeof(*t->frame));
	if (!t->row || !room)
		return -ENOMEM;
	for (size_t i = 0; i < g->stacks; i++) {
		t->row[i] = make_row(g, &g->stack[i]);
		room = put_row_frames(t, &t->row[i], room);
	}
	qsort(t->row, g->stacks, sizeof(*t->row), compare_code);
	for (size_t i = 0; i < g->stacks; i++) {
		add_row(&t->all, &t->row[i]);
		if (t->rows && compare_code(&t->row[t->rows - 1], &t->row[i]) == 0)
			add_row(&t->row[t->rows - 1], &t->row[i]);
		else
			t->row[t->rows++] = t->row[i];
	}
	/* Where changes have no stack, STILL is more of a lower bound of some rows than of others.
	 */
	qsort(t->row, t->rows, sizeof(*t->row),
	      g->resident_known && !g->sampled && !g->lost ? compare_still : compare_growth);
	for (size_t i = 0; i < t->rows; i++) {
		int64_t net = growth_sum(t->row[i].net);

		t->of.grown += net > 0 ? net : 0;
	}
	t->shown = shown < t->rows ? shown : t->rows;
	for (size_t i = t->shown; i < t->rows; i++)
		add_row(&t->others, &t->row[i]);
	return 0;
}

/* How often the first `period` frames come one after the other. */
static size_t count_repeats(const uint32_t *frame, size_t count, size_t period)
{
	size_t n = 1;

	while ((n + 1) * period <= count &&
	       memcmp(frame, frame + n * period, period * sizeof(*frame)) == 0)
		n++;
	return n;
}

/* Functions that call themselves, or each other in turn, once: those of the shortest turn. */
static size_t find_period(const uint32_t *frame, size_t count, size_t *ret_times)
{
	for (size_t period = 1; period <= PERIOD_MOST; period++) {
		*ret_times = count_repeats(frame, count, period);
		if (*ret_times > 1)
			return period;
	}
	return 1;
}

static void put_frames(struct growth_table *t, const uint32_t *frame, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		strbuf_puts(&t->code, i ? " < " : "");
		put_frame(&t->code, &t->g->frame[frame[i]]);
	}
}

static const char *code_text(struct growth_table *t, const struct growth_stack *r)
{
	const uint32_t *frame = r->frame;
	bool all = t->grid.style->wide;

	strbuf_clear(&t->code);
	for (size_t i = 0, times; i < r->frames;) {
		size_t period = find_period(frame + i, r->frames - i, &times);

		strbuf_puts(&t->code, i ? " < " : "");
		if (!all && t->code.len > CODE_MOST) {
			strbuf_printf(&t->code, TEXT_ELLIPSIS " %zu more", r->frames - i);
			return strbuf_str(&t->code);
		}
		strbuf_puts(&t->code, period > 1 ? "(" : "");
		put_frames(t, frame + i, period);
		strbuf_puts(&t->code, period > 1 ? ")" : "");
		if (times > 1)
			strbuf_printf(&t->code, " \xc3\x97%zu", times);
		i += period * times;
	}
	if (r->truncated)
		strbuf_puts(&t->code, " < " TEXT_ELLIPSIS);
	return strbuf_str(&t->code);
}

/* That of the place. NULL: not known. */
static const char *source_text(struct growth_table *t, const struct growth_stack *r)
{
	strbuf_clear(&t->line);
	if (!r->frames || !t->g->frame[r->frame[0]].source)
		return NULL;
	put_line(&t->line, &t->g->frame[r->frame[0]]);
	return strbuf_str(&t->line);
}

static struct cell cell_of_row(struct growth_table *t, const struct growth_stack *r,
			       const struct field *f)
{
	struct value v;

	t->of.code = f->type == FIELD_TEXT ? code_text(t, r) : NULL;
	t->of.line = f->type == FIELD_TEXT ? source_text(t, r) : NULL;
	v = field_value(f, r, &t->of);
	if (f->flags & FIELD_SINCE)
		v = value_signed(t->g->recent_us, delta_rate(v.number, t->g->recent_us));
	return cell_of_value(f, v);
}

static void fill(void *arg, size_t row, size_t first, size_t end, struct cell *ret)
{
	struct growth_table *t = arg;
	const struct growth_stack *r = row < t->shown	   ? &t->row[row]
				       : row == GRID_TOTAL ? &t->all
							   : &t->others;

	for (size_t i = first; i < end; i++)
		*ret++ = cell_of_row(t, r, t->columns.item[i]);
}

static void put_summary(void *arg, struct line *l)
{
	const struct growth_table *t = arg;

	line_printf(l, "total, %zu place%s", t->rows, t->rows == 1 ? "" : "s");
}

/* Whole kB with commas, as they can be compared with /proc/PID/status. */
static void put_kb(struct strbuf *out, int64_t bytes)
{
	char digits[FORMAT_MAX];
	uint64_t kb = (uint64_t)(bytes < 0 ? -bytes : bytes) / 1024;
	size_t len = decimal_put(digits, kb);

	if (bytes < 0)
		strbuf_putc(out, '-');
	for (size_t i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			strbuf_putc(out, ',');
		strbuf_putc(out, digits[i]);
	}
	strbuf_puts(out, " kB");
}

/* "53,264 kB of 53,264 kB accounted for (RssAnon …)". */
static void put_accounted(struct strbuf *out, const struct growth *g)
{
	const char *comma = "";

	put_kb(out, growth_sum(g->accounted));
	strbuf_puts(out, " of ");
	put_kb(out, growth_sum(g->change));
	strbuf_puts(out, " accounted for");
	for (int i = 0; i < GROWTH_COUNTERS; i++) {
		if (!g->change[i] && !g->accounted[i])
			continue;
		strbuf_printf(out, "%s%s ", *comma ? comma : ": ", growth_counters.item[i]->help);
		put_kb(out, g->accounted[i]);
		strbuf_puts(out, " of ");
		put_kb(out, g->change[i]);
		comma = ", ";
	}
}

static void put_left_out(struct strbuf *out, const struct growth *g)
{
	static const char *const why[GROWTH_OUT_REASONS] = {
		[GROWTH_OUT_TIMEOUT] = "their files do not answer",
		[GROWTH_OUT_DENIED] = "the user of the process may not read their files",
		[GROWTH_OUT_LIMIT] = "their files cost too much time or memory",
		[GROWTH_OUT_BUSY] = "too many files do not answer",
	};

	for (int i = 0; i < GROWTH_OUT_REASONS; i++) {
		if (g->names_left_out[i])
			strbuf_printf(out, "; %zu addresses without a name: %s",
				      g->names_left_out[i], why[i]);
	}
}

static void put_doubts(struct strbuf *out, const struct growth *g)
{
	if (g->sampled)
		strbuf_printf(out,
			      "; %" PRIu64 " of %" PRIu64
			      " changes have no stack: those of a random sample of pages stand for "
			      "them (--sample 1 takes all)",
			      g->sampled, g->events);
	if (g->lost)
		strbuf_printf(out,
			      "; there was no room for the stacks of %" PRIu64
			      " changes: later stacks stand for them",
			      g->lost);
	if ((g->sampled || g->lost) && g->resident_known)
		strbuf_puts(out, "; STILL is at least what is shown");
	if (g->no_room)
		strbuf_printf(out, "; %zu processes not counted: there was no room", g->no_room);
	put_left_out(out, g);
	if (g->lines_left_out)
		strbuf_printf(out,
			      "; %zu addresses without a line: the debugging information of their "
			      "files costs too much time or memory",
			      g->lines_left_out);
	if (!g->each)
		strbuf_puts(out, "; this kernel tells of every 64th page fault of a thread alone "
				 "(Linux 6.2): the sum is exact, the stacks are a sample");
}

static void put_targets(struct strbuf *out, const struct growth *g)
{
	size_t ended = 0;

	for (size_t i = 0; i < g->targets; i++)
		ended += g->target[i].ended;
	strbuf_printf(out, "; %" PRIu64 ".%" PRIu64 " s", g->duration_us / 1000000,
		      g->duration_us / 100000 % 10);
	if (g->targets == 1 && ended)
		strbuf_puts(out, ", up to the end of the process");
	else if (g->targets > 1)
		strbuf_printf(out, ", %zu processes, %zu of which ended", g->targets, ended);
}

static void put_notes(void *arg, struct strbuf *out)
{
	const struct growth_table *t = arg;
	cleanup(strbuf_done) struct strbuf text = {};

	put_accounted(&text, t->g);
	put_targets(&text, t->g);
	put_doubts(&text, t->g);
	text_put_folded(out, strbuf_str(&text), 0, t->grid.style->width);
	if (t->g->unnamed_python)
		text_put_folded(out,
				"Python frames have no names: start it with python3 -X perf "
				"(3.12+)",
				0, t->grid.style->width);
	if (t->g->unnamed_node)
		text_put_folded(out,
				"JavaScript frames have no names: start it with node "
				"--perf-basic-prof --interpreted-frames-native-stack",
				0, t->grid.style->width);
}

/* Also the notes: the counters may have changed where no stack could be taken. */
static void put_nothing(struct growth_table *t, struct strbuf *out)
{
	strbuf_printf(out, "%s\n",
		      growth_sum(t->g->change) > 0 ? "no stack is known of what grew"
						   : "nothing grew");
	put_notes(t, out);
}

static struct grid_column column_of(const struct field *f, bool asked)
{
	return (struct grid_column){.heading = f->heading,
				    .type = cell_type_of(f),
				    .left = f->type == FIELD_TEXT,
				    .summed = f->type != FIELD_TEXT,
				    .asked = asked};
}

static void done(struct growth_table *t)
{
	strbuf_done(&t->code);
	strbuf_done(&t->line);
	free(t->row);
	free(t->frame);
}

void render_growth_table(struct strbuf *out, const struct growth *g, size_t rows,
			 const struct table_style *style)
{
	cleanup(done) struct growth_table t = {.g = g, .grid.style = style, .of.growth = g};
	int r = make_rows(&t, rows);

	if (r == 0 && !t.rows) {
		put_nothing(&t, out);
	} else if (r == 0) {
		t.grid.source = (struct grid_source){
			.fill = fill,
			.summary = put_summary,
			.notes = put_notes,
			.arg = &t,
			.rows = t.shown,
			.others = t.rows - t.shown,
		};
		t.grid.unknown = ATTR_DIM;
		if (style->columns)
			t.columns = *style->columns;
		else
			growth_list_usual(&t.columns);
		for (size_t i = 0; i < t.columns.count; i++)
			t.grid.column[t.grid.columns++] =
				column_of(t.columns.item[i], t.columns.asked[i]);
		grid_place(&t.grid);
		grid_print(out, &t.grid);
		r = strbuf_error(&t.code) ? strbuf_error(&t.code) : strbuf_error(&t.line);
	}
	if (r && !out->error)
		out->error = r;
}

/* ---- JSON ---- */

static void put_document(struct json_writer *w, const struct growth *g)
{
	const struct growth_rows of = {.growth = g};

	json_document_begin(w, "zmem.grow", "1.2", g->snapshot);
	json_lines(w, &growth_document, g, &of);
	json_document_end(w);
}

void render_growth_json(struct strbuf *out, const struct growth *g)
{
	struct json_writer w = {.out = out};

	put_document(&w, g);
}

void render_growth_page_json(struct strbuf *out, const struct growth *g)
{
	struct json_writer w = {.out = out, .html = true};

	put_document(&w, g);
}

/* ---- folded stacks ---- */

void render_growth_folded(struct strbuf *out, const struct growth *g)
{
	cleanup(strbuf_done) struct strbuf frame = {};

	for (size_t i = 0; i < g->stacks; i++) {
		const struct growth_stack *s = &g->stack[i];
		int64_t net = growth_sum(s->net);

		/* The format has no values below 0. */
		if (net <= 0)
			continue;
		if (s->truncated)
			strbuf_puts(out, "[truncated];");
		for (size_t k = s->frames; k-- > 0;) {
			strbuf_clear(&frame);
			put_frame(&frame, &g->frame[s->frame[k]]);
			if (g->frame[s->frame[k]].source) {
				strbuf_putc(&frame, ':');
				put_line(&frame, &g->frame[s->frame[k]]);
			}
			folded_put_frame(out, strbuf_str(&frame));
			strbuf_putc(out, k ? ';' : ' ');
		}
		strbuf_putu(out, (uint64_t)net);
		strbuf_putc(out, '\n');
	}
	if (strbuf_error(&frame) && !out->error)
		out->error = strbuf_error(&frame);
}
