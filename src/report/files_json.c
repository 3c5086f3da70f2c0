// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The document zmem.files, as specified in src/dist/documents.txt. Each
 * top-level key, file and group has its own line. And the lines of -F ndjson, which have the same
 * keys.
 */
#include "base/cleanup.h"
#include "fields/file_fields.h"
#include "report/json.h"
#include "report/report.h"
#include "write/field_text.h"

#define LINE_MAX_BYTES 4095 /* of NDJSON, with its newline */

static void put_document(struct json_writer *w, const struct files_report *r)
{
	struct file_texts texts = {};

	json_document_begin(w, "zmem.files", "1.2", r->snapshot);
	json_lines(w, file_document(r), r, &texts);
	json_document_end(w);
}

void render_files_json(struct strbuf *out, const struct files_report *r)
{
	struct json_writer w = {.out = out};

	put_document(&w, r);
}

void render_files_page_json(struct strbuf *out, const struct files_report *r)
{
	struct json_writer w = {.out = out, .html = true};

	put_document(&w, r);
}

/* ---- NDJSON ---- */

static void begin_line(struct json_writer *w, const char *type, const struct snapshot *s)
{
	json_begin(w, '{');
	json_string(w, "type", type);
	json_i64(w, "timestamp_ms", s->time_ms);
	json_string_max(w, "host", s->host.name, 64);
}

static void end_line(struct json_writer *w)
{
	json_end(w, '}');
	strbuf_putc(w->out, '\n');
}

/* `brief`: the line would be too long. */
static void make_row(struct strbuf *line, const struct files_report *r, size_t row, bool brief)
{
	struct json_writer w = {.out = line};
	struct file_texts texts = {};

	strbuf_clear(line);
	begin_line(&w, r->group ? "file_group" : "file", r->snapshot);
	json_all(&w, file_row_fields(r), &r->rows[row], &texts, brief);
	end_line(&w);
}

void render_files_ndjson(struct strbuf *out, const struct files_report *r)
{
	cleanup(strbuf_done) struct strbuf line = {};
	struct json_writer writer = {.out = out}, *w = &writer;

	for (size_t i = 0; i < r->row_count && !strbuf_error(out); i++) {
		make_row(&line, r, i, false);
		if (line.len > LINE_MAX_BYTES)
			make_row(&line, r, i, true);
		strbuf_take_error(out, &line);
		strbuf_put(out, line.data, line.len);
	}
	begin_line(w, "files", r->snapshot);
	json_ndjson_schema(w, r->snapshot);
	if (r->group)
		json_string(w, "group_by", r->group);
	json_all(w, &file_measured, r, NULL, false);
	json_u64(w, "rows_not_written", r->others_count);
	end_line(w);
}
