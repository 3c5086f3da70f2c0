// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The data of the page, as compact JSON: stored by column, each text once. Characters that could
 * end a script element are escaped.
 *
 *	{"schema":"zmem.page","schema_version":"1.0",
 *	 "tool", "timestamp", "timestamp_ms", "host", "source", "collection", "system", "head",
 *	 "totals":				as in zmem.snapshot
 *	 "memory", "kernel", "user":		as in zmem.system
 *	 "findings":[{"key",…},…],		likewise, hints as well
 *	 "said":{"badge":"✓ complete",…},	what the page says of the machine; null: nothing
 *	 "summary":"total of 12 processes; …",	the last line of the table
 *	 "others":null | {…},			sums, like "totals", of the rows that are left out
 *	 "recorded":false,			true: commands of findings would show another time
 *	 "group":null | "unit",			the initial grouping
 *	 "shown":["pid","user",…],		the columns that are shown at first
 *	 "rows":12,
 *	 "columns":[
 *	  {"key":"rss","header":"RSS","kind":"bytes|number|text|time|percent","help":"…",
 *	   "values":[4096,null,…]},		one value a row; null: not measured
 *	  …],
 *	 "counted":[1,0,…],			1: sums include the row (each mm counts once)
 *	 "strings":["root","bash",…],		the values of "text" columns are indices of this
 *	 "raw":{"7":"62ff",…}}			by index: texts that are not UTF-8, in hex
 *
 * Where "values" or "counted" is the same in every row, that value stands in place of the array. A
 * "percent" column has no values: "of" names the column, and the page computes its share.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/findings.h"
#include "report/head.h"
#include "report/json.h"
#include "report/report.h"
#include "report/summary.h"
#include "write/field_text.h"
#include "write/say.h"
#include "base/string_table.h"

/* The limits of an encoded text and of its bytes in hex. JSON has longer texts. */
#define TEXT_MAX 1024
#define RAW_MAX	 256

/* A value that was not measured; JSON integers cannot have this value. */
#define UNKNOWN INT64_MIN

struct page {
	struct json_writer *w;
	const struct result *r;
	const struct table_style *style;
	struct string_table strings;
	/* The last text that was looked up: consecutive rows often share the pointer. */
	const char *text;
	uint32_t number;
	int64_t *value; /* the values of the current column, one a row */
	size_t rows;
	int error;
};

static const char *kind_name(const struct field *f)
{
	static const char *const name[] = {
		[FIELD_BYTES] = "bytes",     [FIELD_AMOUNT] = "number", [FIELD_NUMBER] = "number",
		[FIELD_PERCENT] = "percent", [FIELD_TIME] = "time",	[FIELD_CHANGE] = "bytes",
		[FIELD_GROWTH] = "number",   [FIELD_TEXT] = "text",	[FIELD_BOOL] = "text",
	};

	return name[f->type];
}

static int64_t text_number(struct page *p, const char *text)
{
	if (!text)
		return UNKNOWN;
	if (text == p->text)
		return p->number;
	if (string_table_number(&p->strings, text, &p->number) < 0) {
		p->error = -ENOMEM;
		return UNKNOWN;
	}
	p->text = text;
	return p->number;
}

static int64_t value_of(struct page *p, const struct field *f, const struct row *row)
{
	/* The page makes groups: a container has the name of its pod before its own. */
	struct value v =
		f->group ? value_text(f->group(row->process)) : field_value(f, row, p->r->snapshot);

	if (!v.known)
		return UNKNOWN;
	switch (f->type) {
	case FIELD_BYTES:
		return v.bytes <= JSON_INTEGER_MAX ? (int64_t)v.bytes : UNKNOWN;
	case FIELD_TEXT:
		/* The page shows the uid where a user has no name. */
		return p->style->numeric && f->needs == NEEDS_USER ? UNKNOWN
								   : text_number(p, v.text);
	case FIELD_BOOL:
		return text_number(p, v.yes ? "true" : "false");
	default:
		return v.number;
	}
}

static void put_value(struct json_writer *w, int64_t v)
{
	if (v == UNKNOWN)
		json_put_null(w);
	else
		json_put_i64(w, v);
}

/* Writes p->value, or a single value if all are equal. */
static void put_values(const struct page *p, const char *key)
{
	size_t same = 1;

	json_key_name(p->w, key);
	while (same < p->rows && p->value[same] == p->value[0])
		same++;
	if (same >= p->rows) {
		put_value(p->w, p->rows ? p->value[0] : UNKNOWN);
		return;
	}
	json_begin(p->w, '[');
	for (size_t i = 0; i < p->rows; i++)
		put_value(p->w, p->value[i]);
	json_end(p->w, ']');
}

static void put_column(struct page *p, const struct field *c)
{
	struct json_writer *w = p->w;

	json_begin_line(w, '{');
	json_string(w, "key", c->key);
	json_string(w, "header", c->heading);
	json_string(w, "kind", kind_name(c));
	json_string(w, "help", c->help);
	if (c->type == FIELD_PERCENT) {
		json_string(w, "of", counter_table[c->counter].key);
	} else {
		for (size_t i = 0; i < p->rows; i++)
			p->value[i] = value_of(p, c, &p->r->rows[i]);
		put_values(p, "values");
	}
	json_end(w, '}');
}

/*
 * True if the page has the column. Command lines may hold secrets, and the file may be passed on:
 * it contains them only on request, as it does apps, which take time. Columns that exist only for
 * groups are left out, because the rows are processes.
 */
static bool has_column(const struct page *p, const struct field *c)
{
	const struct field_list *list = p->style->columns;
	unsigned asked = c->needs & (NEEDS_CMDLINE | NEEDS_APP | NEEDS_NODES);

	if (c->needs & NEEDS_MEMCG || c->flags & FIELD_OWN_WHOLE || strcmp(c->key, "procs") == 0)
		return false;
	return !asked || (p->style->group && p->style->group->needs & asked) ||
	       (list && field_list_has(list, c));
}

static void put_columns(struct page *p)
{
	struct json_writer *w = p->w;

	json_newline(w);
	json_array(w, "columns");
	for (size_t i = 0; i < process_fields.since; i++) {
		if (has_column(p, process_fields.item[i]))
			put_column(p, process_fields.item[i]);
	}
	json_end(w, ']');
	json_newline(w);
	for (size_t i = 0; i < p->rows; i++)
		p->value[i] = totals_counts(p->r->rows[i].process);
	put_values(p, "counted");
}

static void put_strings(struct page *p)
{
	struct json_writer *w = p->w;
	cleanup_free bool *repaired = calloc(p->strings.count + 1, sizeof(*repaired));

	if (!repaired) {
		p->error = -ENOMEM;
		return;
	}
	json_newline(w);
	json_array(w, "strings");
	for (size_t i = 0; i < p->strings.count; i++)
		repaired[i] = json_put_string_max(w, p->strings.item[i], TEXT_MAX) & JSON_REPAIRED;
	json_end(w, ']');
	json_newline(w);
	json_object(w, "raw");
	for (size_t i = 0; i < p->strings.count; i++) {
		char key[24];

		if (!repaired[i])
			continue;
		snprintf(key, sizeof(key), "%zu", i);
		json_key_name(w, key);
		json_put_hex(w, p->strings.item[i], RAW_MAX);
	}
	json_end(w, '}');
}

static void put_summary(struct page *p)
{
	cleanup(strbuf_done) struct strbuf text = {0};
	struct line line = {.out = &text};

	summary_write(&line, p->r);
	if (strbuf_error(&text))
		p->error = strbuf_error(&text);
	json_newline(p->w);
	json_string(p->w, "summary", strbuf_str(&text));
}

static void put_machine(struct page *p)
{
	struct json_writer *w = p->w;
	struct system_report report = {.snapshot = p->r->snapshot};

	json_document_begin(w, "zmem.page", "1.0", p->r->snapshot);
	json_snapshot(w, p->r);
	account_split(&p->r->snapshot->system, &report.account);
	json_lines(w, &system_parts, &report, NULL);
}

/* What the page says of the machine; a text without values is null. */
static void put_said(struct page *p, const struct head *h)
{
	const struct said said = {.sentences = &page_said, .row = h};

	json_newline(p->w);
	json_object(p->w, "said");
	for (size_t i = 0; page_said.text[i]; i++) {
		cleanup(strbuf_done) struct strbuf text = {};

		say_sentence(&(struct line){.out = &text}, &said, page_said.text[i]);
		json_key_name(p->w, page_keys[i]);
		json_put_string(p->w, text.len ? strbuf_str(&text) : NULL);
		p->error = p->error ? p->error : strbuf_error(&text);
	}
	json_end(p->w, '}');
}

static void put_sums(struct page *p)
{
	struct json_writer *w = p->w;
	const struct result *r = p->r;

	json_newline(w);
	json_sums(w, "totals", &r->totals);
	json_newline(w);
	if (p->style->only_total)
		json_sums(w, "others", &r->totals);
	else if (r->others_count)
		json_sums(w, "others", &r->others);
	else
		json_null(w, "others");
}

static void put_presentation(struct page *p)
{
	struct json_writer *w = p->w;
	const struct field_list *list = p->style->columns;

	json_newline(w);
	json_bool(w, "recorded", p->style->recorded);
	json_string(w, "group", p->style->group ? p->style->group->key : NULL);
	json_array(w, "shown");
	for (size_t i = 0; list && i < list->count; i++)
		json_put_string(w, list->item[i]->key);
	json_end(w, ']');
	json_u64(w, "rows", p->rows);
}

void render_page_json(struct strbuf *out, const struct result *r, const struct table_style *style)
{
	struct json_writer writer = {.out = out, .html = true};
	struct page p = {
		.w = &writer,
		.r = r,
		.style = style,
		.rows = style->only_total ? 0 : r->row_count,
		.strings.seed = (uint32_t)r->snapshot->time_ms,
	};
	struct head head;

	p.value = calloc(p.rows + 1, sizeof(*p.value));
	if (!p.value) {
		out->error = out->error ? out->error : -ENOMEM;
		return;
	}
	head_begin(&head, r->snapshot, r->snapshot->system.ram, style);
	put_machine(&p);
	json_found(&writer, r->snapshot, r, FINDING_HINT);
	put_said(&p, &head);
	json_newline(&writer);
	json_head(&writer, &head);
	put_summary(&p);
	put_sums(&p);
	put_presentation(&p);
	put_columns(&p);
	put_strings(&p);
	json_document_end(&writer);
	if (p.error && !out->error)
		out->error = p.error;
	string_table_done(&p.strings);
	free(p.value);
}
