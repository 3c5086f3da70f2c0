// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What the page shows, as JSON that is small and quick to read: columns and not rows, each text
 * once. Knows no HTML but the characters that would end a script element.
 *
 *	{"schema":"zmem.page","schema_version":"1.0",
 *	 "tool", "timestamp", "timestamp_ms", "host", "source", "collection", "system", "totals":
 *						as in zmem.snapshot
 *	 "memory", "kernel", "user":		as in zmem.system
 *	 "summary":"total of 12 processes; …",	the last line of the table
 *	 "others":null | {…},			sums, like "totals", of the rows that are not there
 *	 "group":null | "unit",			what the page groups by at first
 *	 "shown":["pid","user",…],		the columns that it shows at first
 *	 "rows":12,
 *	 "columns":[
 *	  {"key":"rss","header":"RSS","kind":"bytes|number|text|time|percent","help":"…",
 *	   "values":[4096,null,…]},		one for each row; null was not measured
 *	  …],
 *	 "counted":[1,0,…],			1: it is part of sums (an address space counts once)
 *	 "strings":["root","bash",…],		what the values of "text" are numbers of
 *	 "raw":{"7":"62ff",…}}			hex of those that are no UTF-8
 *
 * "values" and "counted" that are the same in every row are that value in place of an array. A
 * "percent" has no values but "of", the column that it is a share of all RAM or swap of.
 */
#include "render/html_data.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "render/json_account.h"
#include "render/json_head.h"
#include "render/json_process.h"
#include "render/json_snapshot.h"
#include "render/string_table.h"
#include "render/summary.h"

/* Of a text, encoded, and of its bytes in hex. Whoever wants more takes JSON. */
#define TEXT_MAX 1024
#define RAW_MAX	 256

/* A value that was not measured; below all that JSON can say. */
#define UNKNOWN INT64_MIN

struct page {
	struct json_writer *w;
	const struct result *r;
	const struct table_style *style;
	struct string_table strings;
	/* The one looked up last: what is said of many rows often is the same pointer. */
	const char *text;
	uint32_t number;
	int64_t *value; /* of the column at hand, for each row */
	size_t rows;
	int error;
};

static const char *kind_name(enum column_kind kind)
{
	switch (kind) {
	case COLUMN_COUNTER:
	case COLUMN_CHANGE:
		return "bytes";
	case COLUMN_NUMBER:
		return "number";
	case COLUMN_TEXT:
		return "text";
	case COLUMN_PERCENT:
		return "percent";
	case COLUMN_TIME:
		return "time";
	}
	return NULL;
}

static int64_t text_number(struct page *p, const char *text)
{
	if (!text)
		return UNKNOWN;
	if (text == p->text)
		return p->number;
	if (string_table_find(&p->strings, text, &p->number) < 0) {
		p->error = -ENOMEM;
		return UNKNOWN;
	}
	p->text = text;
	return p->number;
}

/* The user by number where names are not wanted, in memory that lasts. */
static const char *text_of(const struct page *p, const struct column *c, const struct process *row)
{
	const char *text = c->text(row);

	return p->style->numeric && c->needs == NEEDS_USER ? NULL : text;
}

static int64_t value_of(struct page *p, const struct column *c, const struct process *row)
{
	int64_t v;

	switch (c->kind) {
	case COLUMN_COUNTER:
		return process_has(row, c->counter) && row->value[c->counter] <= JSON_INTEGER_MAX
			       ? (int64_t)row->value[c->counter]
			       : UNKNOWN;
	case COLUMN_TEXT:
		return text_number(p, text_of(p, c, row));
	case COLUMN_NUMBER:
	case COLUMN_TIME:
		return c->number(p->r->snapshot, row, &v) ? v : UNKNOWN;
	case COLUMN_PERCENT:
	case COLUMN_CHANGE:
		break;
	}
	return UNKNOWN;
}

static void put_value(struct json_writer *w, int64_t v)
{
	if (v == UNKNOWN)
		json_null(w);
	else
		json_i64(w, v);
}

/* p->value, or the one that all of them are. */
static void put_values(const struct page *p)
{
	size_t same = 1;

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

static void put_column(struct page *p, const struct column *c)
{
	struct json_writer *w = p->w;

	json_newline(w);
	json_begin(w, '{');
	JSON_KEY(w, "key");
	json_string(w, c->key);
	JSON_KEY(w, "header");
	json_string(w, c->header);
	JSON_KEY(w, "kind");
	json_string(w, kind_name(c->kind));
	JSON_KEY(w, "help");
	json_string(w, c->help);
	if (c->kind == COLUMN_PERCENT) {
		JSON_KEY(w, "of");
		json_string(w, counter_table[c->counter].key);
	} else {
		for (size_t i = 0; i < p->rows; i++)
			p->value[i] = value_of(p, c, p->r->rows[i]);
		JSON_KEY(w, "values");
		put_values(p);
	}
	json_end(w, '}');
}

/*
 * Command lines hold secrets: a file that is handed on has them only if asked. What is said of
 * groups is no matter of rows that are processes.
 */
static bool wants(const struct page *p, const struct column *c)
{
	const struct column_list *list = p->style->columns;

	if (c->needs & NEEDS_CONTROLLER || strcmp(c->key, "procs") == 0)
		return false;
	return !(c->needs & NEEDS_CMDLINE) || c == p->style->group ||
	       (list && column_list_has(list, c));
}

static void put_columns(struct page *p)
{
	struct json_writer *w = p->w;

	json_newline(w);
	JSON_KEY(w, "columns");
	json_begin(w, '[');
	for (size_t i = 0; i < column_count; i++) {
		if (wants(p, column_table[i]))
			put_column(p, column_table[i]);
	}
	json_end(w, ']');
	json_newline(w);
	JSON_KEY(w, "counted");
	for (size_t i = 0; i < p->rows; i++)
		p->value[i] = totals_counts(p->r->rows[i]);
	put_values(p);
}

static void put_strings(struct page *p)
{
	struct json_writer *w = p->w;
	cleanup_free bool *odd = calloc(p->strings.count + 1, sizeof(*odd));

	if (!odd) {
		p->error = -ENOMEM;
		return;
	}
	json_newline(w);
	JSON_KEY(w, "strings");
	json_begin(w, '[');
	for (size_t i = 0; i < p->strings.count; i++)
		odd[i] = json_string_max(w, p->strings.item[i], TEXT_MAX) & JSON_REPAIRED;
	json_end(w, ']');
	json_newline(w);
	JSON_KEY(w, "raw");
	json_begin(w, '{');
	for (size_t i = 0; i < p->strings.count; i++) {
		char key[32];
		int len;

		if (!odd[i])
			continue;
		len = snprintf(key, sizeof(key), ",\"%zu\":", i);
		json_key_text(w, key, (size_t)len);
		json_hex(w, p->strings.item[i], RAW_MAX);
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
	JSON_KEY(p->w, "summary");
	json_string(p->w, strbuf_str(&text));
}

static void put_machine(struct page *p)
{
	struct json_writer *w = p->w;
	const struct snapshot *s = p->r->snapshot;
	struct account account;

	json_head(w, "zmem.page", "1.0", s->time_ms);
	json_host(w, &s->host);
	json_newline(w);
	json_source(w, p->r, SIZE_MAX);
	json_newline(w);
	json_collection(w, &s->collection);
	json_newline(w);
	json_system(w, p->r, true);
	account_split(&s->system, &account);
	json_account(w, &account);
}

static void put_sums(struct page *p)
{
	struct json_writer *w = p->w;
	const struct result *r = p->r;

	json_newline(w);
	json_totals(w, &r->totals);
	json_newline(w);
	JSON_KEY(w, "others");
	if (p->style->only_total)
		json_sums(w, &r->totals);
	else if (r->others_count)
		json_sums(w, &r->others);
	else
		json_null(w);
}

static void put_look(struct page *p)
{
	struct json_writer *w = p->w;
	const struct column_list *list = p->style->columns;

	json_newline(w);
	JSON_KEY(w, "group");
	json_string(w, p->style->group ? p->style->group->key : NULL);
	JSON_KEY(w, "shown");
	json_begin(w, '[');
	for (size_t i = 0; list && i < list->count; i++)
		json_string(w, list->item[i]->key);
	json_end(w, ']');
	JSON_KEY(w, "rows");
	json_u64(w, p->rows);
}

void html_data(struct strbuf *out, const struct result *r, const struct table_style *style)
{
	struct json_writer writer = {.out = out, .html = true};
	struct page p = {
		.w = &writer,
		.r = r,
		.style = style,
		.rows = style->only_total ? 0 : r->row_count,
		.strings.seed = (uint32_t)r->snapshot->time_ms,
	};

	p.value = calloc(p.rows + 1, sizeof(*p.value));
	if (!p.value) {
		out->error = out->error ? out->error : -ENOMEM;
		return;
	}
	json_begin(&writer, '{');
	put_machine(&p);
	put_summary(&p);
	put_sums(&p);
	put_look(&p);
	put_columns(&p);
	put_strings(&p);
	strbuf_putc(out, '\n');
	json_end(&writer, '}');
	strbuf_putc(out, '\n');
	if (p.error && !out->error)
		out->error = p.error;
	string_table_done(&p.strings);
	free(p.value);
}
