// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * CSV as in RFC 4180, except that a line ends with a newline alone: all CSV readers accept it, and
 * cut, sort, awk and join would leave a carriage return in the last column. A record is one line: a
 * character that could break the line or steer a terminal becomes U+FFFD, as do bytes that are not
 * UTF-8. An empty field was not measured; "" is an empty text.
 *
 * A spreadsheet runs a cell that begins with = + - or @, quoted or not, and any user can give a
 * program such a name. Such a text always gets an apostrophe before it: few real names begin so,
 * and the person who opens the file did not choose its options. A text that begins with an
 * apostrophe gets one more, so a program restores the exact text by removing the first one.
 */
#include "render/render.h"

#include "base/array.h"
#include "query/delta.h"
#include "render/csv.h"
#include "render/diff.h"
#include "render/format.h"
#include "render/json_writer.h"
#include "render/text.h"

static const char *map_char(uint32_t c)
{
	if (c == '"')
		return "\"\"";
	return text_safe(c) ? NULL : TEXT_REPLACEMENT;
}

/* A semicolon separates cells in locales with a decimal comma. */
static bool needs_quotes(const char *s)
{
	size_t len = strlen(s);

	return !len || s[0] == ' ' || s[len - 1] == ' ' || strpbrk(s, ",;\"");
}

static bool needs_apostrophe(const char *s)
{
	/* Full-width = + - @: spreadsheets in East Asian locales run these as formulas, too. */
	static const char *const wide[] = {"\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d",
					   "\xef\xbc\xa0"};

	if (*s == '\'')
		return true;
	s += strspn(s, " ");
	for (size_t i = 0; i < ARRAY_SIZE(wide); i++) {
		if (strncmp(s, wide[i], 3) == 0)
			return true;
	}
	return *s && strchr("=+-@", *s);
}

void csv_put_text(struct strbuf *out, const char *s)
{
	bool quoted = needs_quotes(s);

	if (quoted)
		strbuf_putc(out, '"');
	if (needs_apostrophe(s))
		strbuf_putc(out, '\'');
	text_put_mapped(out, s, SIZE_MAX, map_char);
	if (quoted)
		strbuf_putc(out, '"');
}

/* Counters and percentages, of a process or of a sum. */
static void put_counter(struct strbuf *out, const struct snapshot *s, const struct column *c,
			counter_mask have, const uint64_t *value)
{
	char buf[FORMAT_MAX];
	double percent;

	if (c->kind == COLUMN_COUNTER) {
		if (have & COUNTER_BIT(c->counter) && value[c->counter] <= JSON_INTEGER_MAX)
			strbuf_putu(out, value[c->counter]);
	} else if (column_percent(s, c, have, value, &percent)) {
		strbuf_put(out, buf, format_percent(buf, percent));
	}
}

static void put_cell(struct strbuf *out, const struct snapshot *s, const struct column *c,
		     const struct process *p, bool numeric)
{
	const char *text;
	int64_t v;

	switch (c->kind) {
	case COLUMN_COUNTER:
	case COLUMN_PERCENT:
		put_counter(out, s, c, p->have, p->value);
		break;
	case COLUMN_NUMBER:
	case COLUMN_TIME:
		if (c->number(s, p, &v))
			strbuf_puti(out, v);
		break;
	case COLUMN_CHANGE:
		if (delta_of_row(p, c->counter, &v))
			strbuf_puti(out, v);
		break;
	case COLUMN_TEXT:
		text = column_text(c, p);
		if (numeric && (c->needs & NEEDS_USER)) {
			if (p->uid != UID_NONE)
				strbuf_putu(out, p->uid);
		} else if (text)
			csv_put_text(out, text);
		break;
	}
}

static bool has_sum(const struct column *c)
{
	return c->kind == COLUMN_COUNTER || c->kind == COLUMN_PERCENT;
}

/* The first column, of snapshots that follow each other. */
static void put_time_header(struct strbuf *out, const struct table_style *style)
{
	if (style->timed)
		strbuf_puts(out, "timestamp_ms,");
}

static void put_time(struct strbuf *out, const struct result *r, const struct table_style *style)
{
	if (!style->timed)
		return;
	strbuf_puti(out, r->snapshot->time_ms);
	strbuf_putc(out, ',');
}

/* The selected columns of the object "totals" of the JSON document. */
static void put_totals(struct strbuf *out, const struct result *r, const struct table_style *style)
{
	const struct column_list *l = style->columns;
	const struct totals *t = &r->totals;

	if (style->header)
		put_time_header(out, style);
	for (size_t i = 0; style->header && i < l->count; i++) {
		if (has_sum(l->item[i]))
			strbuf_printf(out, "%s,", l->item[i]->json_key);
	}
	if (style->header)
		strbuf_puts(out, "processes,pss_missing_processes\n");
	put_time(out, r, style);
	for (size_t i = 0; i < l->count; i++) {
		const struct column *c = l->item[i];

		if (!has_sum(c))
			continue;
		put_counter(out, r->snapshot, c, t->have, t->value);
		strbuf_putc(out, ',');
	}
	strbuf_printf(out, "%zu,%zu\n", t->processes, t->pss_missing);
}

void render_csv(struct strbuf *out, const struct result *r, const struct table_style *style)
{
	const struct column_list *l = style->columns;

	if (style->only_total) {
		put_totals(out, r, style);
		return;
	}
	if (style->header)
		put_time_header(out, style);
	for (size_t i = 0; style->header && i < l->count; i++) {
		strbuf_puts(out, l->item[i]->json_key);
		strbuf_putc(out, i + 1 < l->count ? ',' : '\n');
	}
	for (size_t row = 0; row < r->row_count; row++) {
		put_time(out, r, style);
		for (size_t i = 0; i < l->count; i++) {
			put_cell(out, r->snapshot, l->item[i], r->rows[row], style->numeric);
			strbuf_putc(out, i + 1 < l->count ? ',' : '\n');
		}
	}
}

/* ---- the changes between two snapshots ---- */

static void put_known(struct strbuf *out, bool known, int64_t value)
{
	if (known)
		strbuf_puti(out, value);
	strbuf_putc(out, ',');
}

static void put_change(struct strbuf *out, const struct diff_report *r,
		       const struct group_change *c)
{
	bool before = group_change_has_before(c), after = group_change_has_after(c);
	const char *state = diff_state(c), *name = c->process ? c->process->name : c->group;

	strbuf_puts(out, state ? state : "");
	strbuf_putc(out, ',');
	put_known(out, before && after, group_change_of(c));
	put_known(out, before && c->before <= JSON_INTEGER_MAX, (int64_t)c->before);
	put_known(out, after && c->after <= JSON_INTEGER_MAX, (int64_t)c->after);
	strbuf_printf(out, "%u,%u,%u,", c->procs_before, c->procs_after, c->missing);
	if (!r->group) {
		put_known(out, c->process, c->process ? c->process->pid : 0);
		if (c->process && c->process->user)
			csv_put_text(out, c->process->user);
		strbuf_putc(out, ',');
	}
	if (name)
		csv_put_text(out, name);
	strbuf_putc(out, '\n');
}

void render_diff_csv(struct strbuf *out, const struct diff_report *r,
		     const struct table_style *style)
{
	if (style->header)
		strbuf_printf(
			out,
			"state,change_bytes,before_bytes,after_bytes,procs_before,procs_after,"
			"missing_processes,%s%s\n",
			r->group ? "" : "pid,user,", r->group ? r->group->key : "name");
	for (size_t i = 0; i < r->shown; i++)
		put_change(out, r, &r->changes->item[i]);
}
