// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Processes and groups as CSV, by the rules of write/csv.c. */
#include "report/report.h"

#include "write/field_text.h"

/* The first column, of snapshots that follow each other. */
static void put_time_header(struct strbuf *out, const struct table_style *style)
{
	if (style->timed)
		strbuf_printf(out, "timestamp_ms%c", style_separator(style));
}

static void put_time(struct strbuf *out, const struct result *r, const struct table_style *style)
{
	if (!style->timed)
		return;
	strbuf_puti(out, r->snapshot->time_ms);
	strbuf_putc(out, style_separator(style));
}

/* The selected columns of the object "totals" of the JSON document. */
static void put_totals(struct strbuf *out, const struct result *r, const struct table_style *style)
{
	const struct field_list *l = style->columns;
	const struct totals *t = &r->totals;

	if (style->header)
		put_time_header(out, style);
	for (size_t i = 0; style->header && i < l->count; i++) {
		if (field_is_counter(l->item[i]))
			strbuf_printf(out, "%.*s%c", FIELD_JSON(l->item[i]),
				      style_separator(style));
	}
	if (style->header)
		strbuf_printf(out, "processes%cpss_missing_processes\n", style_separator(style));
	put_time(out, r, style);
	for (size_t i = 0; i < l->count; i++) {
		const struct field *f = l->item[i];

		if (!field_is_counter(f))
			continue;
		csv_put_value(out, f, totals_value(f, r->snapshot, t), style_separator(style));
		strbuf_putc(out, style_separator(style));
	}
	strbuf_printf(out, "%zu%c%zu\n", t->processes, style_separator(style), t->pss_missing);
}

void render_csv(struct strbuf *out, const struct result *r, const struct table_style *style)
{
	const struct field_list *l = style->columns;

	if (style->only_total) {
		put_totals(out, r, style);
		return;
	}
	if (style->header)
		put_time_header(out, style);
	if (style->header)
		csv_put_head(out, l, style_separator(style));
	for (size_t row = 0; row < r->row_count; row++) {
		put_time(out, r, style);
		for (size_t i = 0; i < l->count; i++) {
			const struct field *f = l->item[i];

			if (style->numeric && f->needs & NEEDS_USER)
				f = process_field("uid");
			csv_put_value(out, f, field_value(f, &r->rows[row], r->snapshot),
				      style_separator(style));
			strbuf_putc(out, i + 1 < l->count ? style_separator(style) : '\n');
		}
	}
}
