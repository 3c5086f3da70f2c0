// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The changes between two snapshots as a table, JSON and NDJSON. csv.c has the CSV. */
#include "report/diff.h"

#include "base/cleanup.h"
#include "report/json.h"
#include "report/report.h"
#include "write/format.h"
#include "write/grid.h"

const char *diff_state(const struct group_change *c)
{
	static const char *const word[] = {
		[CHANGE_SAME] = "same",	  [CHANGE_GREW] = "grew",   [CHANGE_SHRANK] = "shrank",
		[CHANGE_BEGAN] = "began", [CHANGE_ENDED] = "ended", [CHANGE_UNKNOWN] = NULL};

	return word[group_change_state(c)];
}

/* ---- the table ---- */

enum diff_column {
	DIFF_PID,
	DIFF_USER,
	DIFF_CHANGE,
	DIFF_BEFORE,
	DIFF_AFTER,
	DIFF_PROCS,
	DIFF_PROCS_CHANGE,
	DIFF_STATE,
	DIFF_NAME,
	DIFF_COLUMNS,
};

struct diff_table {
	const struct diff_report *r;
	const struct table_style *style;
	struct grid grid;
	struct group_change others;
};

static const char *name_of(const struct group_change *c)
{
	return c->process ? c->process->name : c->group;
}

static struct cell cell_of_text(const struct diff_table *t, const struct group_change *c,
				size_t column)
{
	if (column == DIFF_USER)
		return cell_text(c->process ? c->process->user : NULL);
	if (column == DIFF_STATE)
		return cell_text(diff_state(c));
	return cell_text(name_of(c) || !t->r->group ? name_of(c) : "(none)");
}

static struct cell cell_of_change(const struct diff_table *t, const struct group_change *c,
				  size_t column)
{
	bool before = group_change_has_before(c), after = group_change_has_after(c);

	switch (column) {
	case DIFF_PID:
		return cell_number(CELL_COUNT, c->process, c->process ? c->process->pid : 0);
	case DIFF_CHANGE:
		return cell_number(CELL_CHANGE, before && after, group_change_of(c));
	case DIFF_BEFORE:
		return cell_bytes(before, c->before);
	case DIFF_AFTER:
		return cell_bytes(after, c->after);
	case DIFF_PROCS:
		return cell_number(CELL_COUNT, true, c->procs_after);
	case DIFF_PROCS_CHANGE:
		return cell_number(CELL_GROWTH, true,
				   (int64_t)c->procs_after - (int64_t)c->procs_before);
	default:
		return cell_of_text(t, c, column);
	}
}

static bool is_summed(size_t column)
{
	return column >= DIFF_CHANGE && column <= DIFF_PROCS_CHANGE;
}

static void fill(void *arg, size_t row, size_t first, size_t end, struct cell *ret)
{
	const struct diff_table *t = arg;
	const struct group_changes *g = t->r->changes;
	bool sum = row == GRID_TOTAL || row == GRID_OTHERS;
	const struct group_change *c = row == GRID_TOTAL    ? &g->total
				       : row == GRID_OTHERS ? &t->others
							    : &g->item[row];

	for (size_t i = first; i < end; i++)
		*ret++ = sum && !is_summed(i) ? (struct cell){.type = CELL_EMPTY}
					      : cell_of_change(t, c, i);
}

static void put_summary(void *arg, struct line *l)
{
	(void)arg;
	line_printf(l, "total");
}

/* Each start of a program changes the shares of all that map the same files. */
static void put_small(const struct diff_table *t, struct strbuf *out)
{
	cleanup(strbuf_done) struct strbuf text = {};

	if (!t->r->small)
		return;
	strbuf_printf(&text, "%zu change%s below %u KiB %s left out (--all shows %s)", t->r->small,
		      t->r->small == 1 ? "" : "s", t->r->after->host.page_size / 1024,
		      t->r->small == 1 ? "is" : "are", t->r->small == 1 ? "it" : "them");
	text_put_folded(out, strbuf_str(&text), 0, t->style->width);
}

static void put_notes(void *arg, struct strbuf *out)
{
	const struct diff_table *t = arg;
	uint32_t missing = t->r->changes->total.missing;
	cleanup(strbuf_done) struct strbuf text = {};

	put_small(t, out);
	if (!missing)
		return;
	strbuf_printf(&text, "%u process%s left out of all sums: not read in one of the snapshots",
		      missing, missing == 1 ? " is" : "es are");
	text_put_folded(out, strbuf_str(&text), 0, t->style->width);
}

static void add_column(struct diff_table *t, int column)
{
	static const char *const heading[] = {
		[DIFF_PID] = "PID",	  [DIFF_USER] = "USER",	      [DIFF_CHANGE] = "CHANGE",
		[DIFF_BEFORE] = "BEFORE", [DIFF_AFTER] = "AFTER",     [DIFF_PROCS] = "PROCS",
		[DIFF_STATE] = "STATE",	  [DIFF_PROCS_CHANGE] = "+-", [DIFF_NAME] = "NAME"};
	static const enum cell_type type[] = {
		[DIFF_PID] = CELL_COUNT,     [DIFF_USER] = CELL_TEXT,
		[DIFF_CHANGE] = CELL_CHANGE, [DIFF_BEFORE] = CELL_BYTES,
		[DIFF_AFTER] = CELL_BYTES,   [DIFF_PROCS] = CELL_COUNT,
		[DIFF_STATE] = CELL_TEXT,    [DIFF_PROCS_CHANGE] = CELL_GROWTH,
		[DIFF_NAME] = CELL_TEXT};
	const struct field *group = t->r->group;
	bool of_groups = column == DIFF_PROCS || column == DIFF_PROCS_CHANGE;
	bool of_processes = column == DIFF_PID || column == DIFF_USER;

	t->grid.column[t->grid.columns++] = (struct grid_column){
		.heading = column == DIFF_NAME && group ? group->heading : heading[column],
		.type = type[column],
		.left = type[column] == CELL_TEXT,
		.middle = column == DIFF_NAME && group,
		.hidden = group ? of_processes : of_groups,
		.max = column == DIFF_USER ? 10 : 0,
		.summed = is_summed((size_t)column),
	};
}

/* "3 h 14 min", "5 min 3 s", "12.5 s" */
static void put_span(struct line *l, int64_t ms)
{
	const long long s = ms / 1000;

	if (s >= 3600)
		line_printf(l, "%lld h %lld min", s / 3600, s / 60 % 60);
	else if (s >= 60)
		line_printf(l, "%lld min %lld s", s / 60, s % 60);
	else
		line_printf(l, "%lld.%lld s", s, (long long)(ms % 1000 / 100));
}

static void put_moments(struct strbuf *out, const struct diff_report *r,
			const struct table_style *style)
{
	struct line l = {.out = out, .width = style->width, .color = style->color};
	char buf[FORMAT_MAX];
	int64_t span = r->after->time_ms - r->before->time_ms;

	line_printf(&l, "%s, from ", r->what);
	line_ascii(&l, buf, format_time(buf, r->before->time_ms, TIME_TABLE));
	line_printf(&l, " to ");
	line_ascii(&l, buf, format_time(buf, r->after->time_ms, TIME_TABLE));
	if (span >= 0) {
		line_printf(&l, ": ");
		put_span(&l, span);
	}
	line_end(&l);
}

void render_diff_table(struct strbuf *out, const struct diff_report *r,
		       const struct table_style *style)
{
	struct diff_table t = {.r = r, .style = style};

	t.grid.style = style;
	t.grid.source = (struct grid_source){.fill = fill,
					     .summary = put_summary,
					     .notes = put_notes,
					     .arg = &t,
					     .rows = r->shown,
					     .others = r->changes->count - r->shown};
	t.grid.unknown = ATTR_DIM;
	group_changes_sum(r->changes, r->shown, r->changes->count, &t.others);
	for (int column = 0; column < DIFF_COLUMNS; column++)
		add_column(&t, column);
	if (style->header)
		put_moments(out, r, style);
	grid_place(&t.grid);
	grid_print(out, &t.grid);
}

/* ---- JSON ---- */

#define TEXT_MAX 512
#define HEX_MAX	 256

static void put_bytes(struct json_writer *w, const struct group_change *c)
{
	bool before = group_change_has_before(c), after = group_change_has_after(c);

	json_known(w, "before_bytes", before, c->before);
	json_known(w, "after_bytes", after, c->after);
	json_known_i64(w, "change_bytes", before && after, group_change_of(c));
}

/* The fields of a row, for an open object. */
static void put_row(struct json_writer *w, const struct diff_report *r,
		    const struct group_change *c)
{
	unsigned flags = json_string_max(w, "key", name_of(c), TEXT_MAX);

	json_hex_if(w, "key_hex", flags, name_of(c), HEX_MAX);
	if (c->process) {
		json_i64(w, "pid", c->process->pid);
		json_string_max(w, "user", c->process->user, TEXT_MAX);
	}
	json_string(w, "state", diff_state(c));
	if (r->group) {
		json_u64(w, "procs_before", c->procs_before);
		json_u64(w, "procs_after", c->procs_after);
	}
	json_u64(w, "missing_processes", c->missing);
	put_bytes(w, c);
}

/* What the rows are, and their sum, for an open object. */
static void put_totals(struct json_writer *w, const struct diff_report *r)
{
	const struct group_change *t = &r->changes->total;

	json_i64(w, "from_ms", r->before->time_ms);
	json_i64(w, "to_ms", r->after->time_ms);
	json_string(w, "counter", r->key);
	json_string(w, "group_by", r->group ? r->group->key : NULL);
	json_object(w, "totals");
	json_u64(w, "procs_before", t->procs_before);
	json_u64(w, "procs_after", t->procs_after);
	json_u64(w, "missing_processes", t->missing);
	put_bytes(w, t);
	json_end(w, '}');
}

void render_diff_json(struct strbuf *out, const struct diff_report *r)
{
	struct json_writer writer = {.out = out}, *w = &writer;

	json_document_begin(w, "zmem.diff", "1.0", r->after);
	json_newline(w);
	put_totals(w, r);
	json_newline(w);
	json_array(w, "rows");
	for (size_t i = 0; i < r->shown; i++) {
		json_begin_line(w, '{');
		put_row(w, r, &r->changes->item[i]);
		json_end(w, '}');
	}
	json_end_lines(w, ']');
	json_document_end(w);
}

static void put_line_begin(struct json_writer *w, const char *type, const struct diff_report *r)
{
	*w = (struct json_writer){.out = w->out};
	json_begin(w, '{');
	json_string(w, "type", type);
	json_i64(w, "timestamp_ms", r->after->time_ms);
	json_string_max(w, "host", r->after->host.name, TEXT_MAX);
}

static void put_line_end(struct json_writer *w)
{
	json_end(w, '}');
	strbuf_putc(w->out, '\n');
}

void render_diff_ndjson(struct strbuf *out, const struct diff_report *r)
{
	struct json_writer w = {.out = out};

	for (size_t i = 0; i < r->shown; i++) {
		put_line_begin(&w, "change", r);
		put_row(&w, r, &r->changes->item[i]);
		put_line_end(&w);
	}
	put_line_begin(&w, "diff", r);
	put_totals(&w, r);
	put_line_end(&w);
}
