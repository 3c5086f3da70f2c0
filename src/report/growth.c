// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The table of growth by stack, its JSON and its folded stacks. */
#include "report/growth.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "query/delta.h"
#include "report/folded.h"
#include "report/json.h"
#include "report/report.h"
#include "write/format.h"
#include "write/grid.h"

#define TEXT_MAX    1024 /* encoded bytes of a name */
#define CODE_MOST   240	 /* bytes of callers in a line, unless all are wanted */
#define PERIOD_MOST 4	 /* functions that call each other in turn */

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

/* ---- the table ---- */

enum table_column {
	TABLE_GROWTH,
	TABLE_SHARE,
	TABLE_RATE,
	TABLE_ADDED,
	TABLE_RESIDENT,
	TABLE_CODE,
	TABLE_COLUMNS,
};

/* A place that allocates, and where it was called from: stacks that only differ inside of it. */
struct growth_row {
	const struct growth_stack *stack;
	const uint32_t *frame; /* from the place on */
	size_t count;
	int64_t net, recent;
	uint64_t gross, resident;
};

struct growth_table {
	const struct growth *g;
	struct grid grid;
	struct growth_row *row; /* by growth */
	uint32_t *frame;	/* of the rows that leave out an interpreter */
	size_t rows, shown;
	struct growth_row others, all;
	int64_t grown;	    /* by the rows that grew */
	struct strbuf code; /* of the current row */
};

/* Frames outside of the program's own: _start, and the C library that calls main. */
static bool is_outside(const struct growth_frame *f)
{
	return f->name && ((f->allocator && !f->interpreter) || strcmp(f->name, "_start") == 0);
}

static struct growth_row make_row(const struct growth *g, const struct growth_stack *s)
{
	struct growth_row r = {.stack = s,
			       .net = growth_sum(s->net),
			       .recent = s->recent,
			       .gross = s->gross,
			       .resident = s->resident};
	size_t first = 0, end = s->frames;

	growth_place(g, s, &first);
	while (end > first + 1 && is_outside(&g->frame[s->frame[end - 1]]))
		end--;
	r.frame = s->frame + first;
	r.count = end - first;
	return r;
}

/*
 * Between functions that have names, their interpreter says nothing. Returns the room behind the
 * frames.
 */
static uint32_t *leave_out_interpreter(const struct growth *g, struct growth_row *r, uint32_t *room)
{
	bool own = r->count && g->frame[r->frame[0]].interpreter;
	size_t count = 0;

	for (size_t i = 0; i < r->count; i++) {
		if (own || !g->frame[r->frame[i]].interpreter)
			room[count++] = r->frame[i];
	}
	r->frame = room;
	r->count = count;
	return room + count;
}

static void add_row(struct growth_row *to, const struct growth_row *r)
{
	to->net += r->net;
	to->recent += r->recent;
	to->gross += r->gross;
	to->resident += r->resident;
}

static int compare_code(const void *a, const void *b)
{
	const struct growth_row *x = a, *y = b;
	const uint32_t *p = x->frame, *q = y->frame;

	if (x->count != y->count)
		return x->count < y->count ? -1 : 1;
	for (size_t i = 0; i < x->count; i++) {
		if (p[i] != q[i])
			return p[i] < q[i] ? -1 : 1;
	}
	return x->stack->truncated - y->stack->truncated;
}

static int compare_growth(const void *a, const void *b)
{
	const struct growth_row *x = a, *y = b;

	if (x->net != y->net)
		return x->net > y->net ? -1 : 1;
	if (x->gross != y->gross)
		return x->gross > y->gross ? -1 : 1;
	return compare_code(a, b);
}

static int make_rows(struct growth_table *t, size_t shown)
{
	const struct growth *g = t->g;
	size_t frames = 1;
	uint32_t *room;

	for (size_t i = 0; i < g->stacks; i++)
		frames += g->stack[i].frames;
	t->row = calloc(g->stacks + 1, sizeof(*t->row));
	t->frame = room = t->grid.style->wide ? NULL : calloc(frames, sizeof(*t->frame));
	if (!t->row || (!room && !t->grid.style->wide))
		return -ENOMEM;
	for (size_t i = 0; i < g->stacks; i++) {
		t->row[i] = make_row(g, &g->stack[i]);
		if (room)
			room = leave_out_interpreter(g, &t->row[i], room);
	}
	qsort(t->row, g->stacks, sizeof(*t->row), compare_code);
	for (size_t i = 0; i < g->stacks; i++) {
		add_row(&t->all, &t->row[i]);
		if (t->rows && compare_code(&t->row[t->rows - 1], &t->row[i]) == 0)
			add_row(&t->row[t->rows - 1], &t->row[i]);
		else
			t->row[t->rows++] = t->row[i];
	}
	qsort(t->row, t->rows, sizeof(*t->row), compare_growth);
	for (size_t i = 0; i < t->rows; i++)
		t->grown += t->row[i].net > 0 ? t->row[i].net : 0;
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

static const char *code_text(struct growth_table *t, const struct growth_row *r)
{
	const uint32_t *frame = r->frame;
	bool all = t->grid.style->wide;

	strbuf_clear(&t->code);
	for (size_t i = 0, times; i < r->count;) {
		size_t period = find_period(frame + i, r->count - i, &times);

		strbuf_puts(&t->code, i ? " < " : "");
		if (!all && t->code.len > CODE_MOST) {
			strbuf_printf(&t->code, TEXT_ELLIPSIS " %zu more", r->count - i);
			return strbuf_str(&t->code);
		}
		strbuf_puts(&t->code, period > 1 ? "(" : "");
		put_frames(t, frame + i, period);
		strbuf_puts(&t->code, period > 1 ? ")" : "");
		if (times > 1)
			strbuf_printf(&t->code, " \xc3\x97%zu", times);
		i += period * times;
	}
	if (r->stack->truncated)
		strbuf_puts(&t->code, " < " TEXT_ELLIPSIS);
	return strbuf_str(&t->code);
}

static struct cell cell_of_row(struct growth_table *t, const struct growth_row *r, size_t column)
{
	switch (column) {
	case TABLE_GROWTH:
		return cell_number(CELL_CHANGE, true, r->net);
	case TABLE_SHARE:
		return cell_percent(r->net > 0,
				    r->net > 0 ? 100.0 * (double)r->net / (double)t->grown : 0);
	case TABLE_ADDED:
		return cell_bytes(true, r->gross);
	case TABLE_RATE:
		return cell_number(CELL_CHANGE, t->g->recent_us,
				   delta_rate(r->recent, t->g->recent_us));
	case TABLE_RESIDENT:
		return cell_bytes(t->g->resident_known, r->resident);
	default:
		return r->stack ? cell_text(code_text(t, r)) : (struct cell){.type = CELL_EMPTY};
	}
}

static void fill(void *arg, size_t row, size_t first, size_t end, struct cell *ret)
{
	struct growth_table *t = arg;
	const struct growth_row *r = row < t->shown	 ? &t->row[row]
				     : row == GRID_TOTAL ? &t->all
							 : &t->others;

	for (size_t i = first; i < end; i++)
		*ret++ = cell_of_row(t, r, i);
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
		strbuf_printf(out, "%s%s ", *comma ? comma : ": ", growth_status_name[i]);
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
}

/* Also the notes: the counters may have changed where no stack could be taken. */
static void put_nothing(struct growth_table *t, struct strbuf *out)
{
	strbuf_printf(out, "%s\n",
		      growth_sum(t->g->change) > 0 ? "no stack is known of what grew"
						   : "nothing grew");
	put_notes(t, out);
}

void render_growth_table(struct strbuf *out, const struct growth *g, size_t rows,
			 const struct table_style *style)
{
	static const struct grid_column columns[TABLE_COLUMNS] = {
		[TABLE_GROWTH] = {.heading = "GROWTH", .type = CELL_CHANGE, .summed = true},
		[TABLE_SHARE] = {.heading = "SHARE", .type = CELL_PERCENT, .summed = true},
		[TABLE_RATE] = {.heading = "PER_S", .type = CELL_CHANGE, .summed = true},
		[TABLE_ADDED] = {.heading = "ADDED", .type = CELL_BYTES, .summed = true},
		[TABLE_RESIDENT] = {.heading = "STILL", .type = CELL_BYTES, .summed = true},
		[TABLE_CODE] = {.heading = "CODE", .type = CELL_TEXT, .left = true},
	};
	struct growth_table t = {.g = g, .grid.style = style};

	if (make_rows(&t, rows) < 0) {
		out->error = out->error ? out->error : -ENOMEM;
		free(t.row);
		free(t.frame);
		return;
	}
	if (!t.rows) {
		put_nothing(&t, out);
		free(t.row);
		free(t.frame);
		return;
	}
	t.grid.source = (struct grid_source){
		.fill = fill,
		.summary = put_summary,
		.notes = put_notes,
		.arg = &t,
		.rows = t.shown,
		.others = t.rows - t.shown,
	};
	t.grid.unknown = ATTR_DIM;
	for (int i = 0; i < TABLE_COLUMNS; i++)
		t.grid.column[t.grid.columns++] = columns[i];
	grid_place(&t.grid);
	grid_print(out, &t.grid);
	if (strbuf_error(&t.code) && !out->error)
		out->error = strbuf_error(&t.code);
	strbuf_done(&t.code);
	free(t.row);
	free(t.frame);
}

/* ---- JSON ---- */

static void put_counters(struct json_writer *w, const char *key, const int64_t *bytes)
{
	char name[32];

	json_key_name(w, key);
	json_begin(w, '{');
	for (int i = 0; i < GROWTH_COUNTERS; i++) {
		snprintf(name, sizeof(name), "%s_bytes", growth_key[i]);
		json_key_name(w, name);
		json_put_i64(w, bytes[i]);
	}
	json_end(w, '}');
}

static void put_process(struct json_writer *w, const struct growth_target *t)
{
	unsigned flags;

	json_begin_line(w, '{');
	json_i64(w, "pid", t->pid);
	flags = json_string_max(w, "name", t->name, TEXT_MAX);
	json_hex_if(w, "name_hex", flags, t->name, TEXT_MAX);
	json_bool(w, "ended", t->ended);
	json_u64(w, "execs", t->execs);
	json_end(w, '}');
}

static void put_target(struct json_writer *w, const struct growth *g)
{
	json_newline(w);
	json_object(w, "target");
	json_i64(w, "start_ms", g->start_ms);
	json_u64(w, "duration_us", g->duration_us);
	json_u64(w, "recent_us", g->recent_us);
	json_string(w, "stacks_by", g->mode == GROWTH_FP ? "fp" : "dwarf");
	json_array(w, "processes");
	for (size_t i = 0; i < g->targets; i++)
		put_process(w, &g->target[i]);
	json_end_lines(w, ']');
	json_u64(w, "processes_without_room", g->no_room);
	json_end(w, '}');
}

static void put_account(struct json_writer *w, const struct growth *g)
{
	json_newline(w);
	json_object(w, "accounted");
	json_i64(w, "counter_change_bytes", growth_sum(g->change));
	json_i64(w, "stacks_bytes", growth_sum(g->accounted));
	json_u64(w, "lost_events", g->lost);
	json_u64(w, "events", g->events);
	json_u64(w, "sampled_events", g->sampled);
	json_i64(w, "sampled_bytes", g->sampled_bytes);
	json_bool(w, "every_change", g->each);
	json_object(w, "names_left_out");
	for (int i = 0; i < GROWTH_OUT_REASONS; i++) {
		json_key_name(w, growth_out_name[i]);
		json_put_u64(w, g->names_left_out[i]);
	}
	json_end(w, '}');
	put_counters(w, "begin", g->begin);
	put_counters(w, "change", g->change);
	put_counters(w, "stacks", g->accounted);
	json_end(w, '}');
}

static void put_point(struct json_writer *w, const struct growth_point *p)
{
	char name[32];

	json_begin(w, '{');
	json_i64(w, "time_ms", p->time_ms);
	for (int i = 0; i < GROWTH_COUNTERS; i++) {
		snprintf(name, sizeof(name), "%s_bytes", growth_key[i]);
		json_key_name(w, name);
		json_put_i64(w, p->net[i]);
	}
	json_end(w, '}');
}

static void put_frame_json(struct json_writer *w, const struct growth_frame *f)
{
	unsigned flags;

	json_begin(w, '{');
	flags = json_string_max(w, "function", f->name, TEXT_MAX);
	json_hex_if(w, "function_hex", flags, f->name, TEXT_MAX);
	flags = json_string_max(w, "module", f->module, TEXT_MAX);
	json_hex_if(w, "module_hex", flags, f->module, TEXT_MAX);
	json_u64(w, "offset", f->offset);
	json_bool(w, "allocator", f->allocator);
	json_end(w, '}');
}

static void put_stack(struct json_writer *w, const struct growth *g, const struct growth_stack *s)
{
	json_begin_line(w, '{');
	json_i64(w, "net_bytes", growth_sum(s->net));
	json_u64(w, "gross_bytes", s->gross);
	json_known(w, "resident_bytes", g->resident_known, s->resident);
	json_i64(w, "recent_bytes", s->recent);
	json_u64(w, "changes", s->changes);
	put_counters(w, "net", s->net);
	json_bool(w, "truncated", s->truncated);
	json_array(w, "frames");
	for (size_t i = 0; i < s->frames; i++)
		put_frame_json(w, &g->frame[s->frame[i]]);
	json_end(w, ']');
	json_end(w, '}');
}

static void put_document(struct json_writer *w, const struct growth *g)
{
	json_document_begin(w, "zmem.grow", "1.1", g->snapshot);
	put_target(w, g);
	put_account(w, g);
	json_newline(w);
	json_array(w, "history");
	for (size_t i = 0; i < g->points; i++)
		put_point(w, &g->point[i]);
	json_end(w, ']');
	json_newline(w);
	json_array(w, "stacks");
	for (size_t i = 0; i < g->stacks; i++)
		put_stack(w, g, &g->stack[i]);
	json_end_lines(w, ']');
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
			folded_put_frame(out, strbuf_str(&frame));
			strbuf_putc(out, k ? ';' : ' ');
		}
		strbuf_putu(out, (uint64_t)net);
		strbuf_putc(out, '\n');
	}
	if (strbuf_error(&frame) && !out->error)
		out->error = strbuf_error(&frame);
}
