// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Writes a line for each process or group and a last line for the snapshot, which says whether the
 * snapshot is complete; src/dist/documents.txt specifies them. The keys are those of
 * zmem.snapshot. Each line fits PIPE_BUF, so that lines of several writers do not mix: where a line
 * would be longer, its texts are cut shorter.
 */
#include "report/report.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "fields/result_fields.h"
#include "write/field_text.h"
#include "query/delta_tracker.h"
#include "report/json.h"

#define LINE_MAX_BYTES 4095 /* with its newline */
#define HOST_MAX       64
#define REASON_MAX     256

/* The changes in the output: a line has no room for all. */
static const char *const changes[] = {"swap_change",	 "uss_change", "pss_change",
				      "pss_swap_change", "rss_change", "majflt_change"};

static const char *const growth[] = {"swapin", "wait", "grown", "grown_h", "watched", "grew"};

static void begin_line(struct json_writer *w, const char *type, const struct snapshot *s)
{
	json_begin(w, '{');
	json_string(w, "type", type);
	json_i64(w, "timestamp_ms", s->time_ms);
	json_string_max(w, "host", s->host.name, HOST_MAX);
}

/* Changes since the snapshot that "since_ms" names, not per second. */
static void put_changes(struct json_writer *w, const struct row *r)
{
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		const struct field *f = process_field(changes[i]);

		json_field(w, f, field_value(f, r, NULL), true);
	}
	for (size_t i = 0; i < ARRAY_SIZE(growth); i++) {
		const struct field *f = process_field(growth[i]);

		json_field(w, f, field_value(f, r, NULL), true);
	}
	json_u64(w, "compared_ticks", r->ticks);
}

static void make_row(struct strbuf *line, const struct result *r, const struct field_list *list,
		     const struct row *row, bool brief)
{
	struct json_writer w = {.out = line};

	strbuf_clear(line);
	begin_line(&w, r->group ? "group" : "process", r->snapshot);
	json_row(&w, r, list, row, brief);
	if (r->delta)
		put_changes(&w, row);
	json_end(&w, '}');
	strbuf_putc(line, '\n');
}

static void put_total_changes(struct json_writer *w, const struct result *r)
{
	const struct delta *c = r->delta;

	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		const struct field *f = process_field(changes[i]);
		int64_t by = 0;
		bool known = c->known &&
			     delta_of_totals((enum counter)f->counter, &r->totals, &c->before, &by);

		json_field(w, f, value_signed(known, by), true);
	}
}

/* Writes what only a snapshot of a series has. */
static void put_watch(struct json_writer *w, const struct result *r)
{
	json_object(w, "watch");
	json_all(w, &watch_fields, r, NULL, true);
	put_total_changes(w, r);
	json_all(w, &watch_cost_fields, r, NULL, true);
	json_end(w, '}');
}

static void make_snapshot(struct strbuf *line, const struct result *r, bool brief)
{
	const struct snapshot *s = r->snapshot;
	struct json_writer writer = {.out = line}, *w = &writer;

	strbuf_clear(line);
	begin_line(w, "snapshot", s);
	json_ndjson_schema(w, s);
	if (r->group)
		json_string(w, "group_by", r->group->key);
	json_bool(w, "complete", s->collection.complete);
	json_source(w, r, REASON_MAX);
	json_object(w, "collection");
	json_all(w, &collection_fields, &s->collection, NULL, false);
	json_end(w, '}');
	json_object(w, "system");
	json_all(w, &system_values, s, NULL, brief);
	json_end(w, '}');
	json_sums(w, "totals", &r->totals);
	if (r->delta)
		put_watch(w, r);
	json_end(w, '}');
	strbuf_putc(line, '\n');
}

static void put_line(struct strbuf *out, const struct strbuf *line)
{
	/* Checked first, so that no partial line is written. */
	strbuf_take_error(out, line);
	strbuf_put(out, line->data, line->len);
}

void render_ndjson_with(struct strbuf *out, struct strbuf *line, const struct result *r)
{
	struct field_list list;

	process_list_json(&list, r->group, r->app);
	for (size_t i = 0; i < r->row_count && !strbuf_error(out); i++) {
		make_row(line, r, &list, &r->rows[i], false);
		if (line->len > LINE_MAX_BYTES)
			make_row(line, r, &list, &r->rows[i], true);
		put_line(out, line);
	}
	make_snapshot(line, r, false);
	if (line->len > LINE_MAX_BYTES)
		make_snapshot(line, r, true);
	put_line(out, line);
}

void render_ndjson(struct strbuf *out, const struct result *r)
{
	cleanup(strbuf_done) struct strbuf line = {};

	render_ndjson_with(out, &line, r);
}
