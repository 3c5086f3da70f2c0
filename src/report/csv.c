// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Processes, groups and their changes as CSV, by the rules of write/csv.c. */
#include "report/report.h"

#include "report/diff.h"
#include "write/csv.h"
#include "write/field_text.h"
#include "write/json_writer.h"

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
	const struct field_list *l = style->columns;
	const struct totals *t = &r->totals;

	if (style->header)
		put_time_header(out, style);
	for (size_t i = 0; style->header && i < l->count; i++) {
		if (field_is_counter(l->item[i]))
			strbuf_printf(out, "%s,", l->item[i]->json);
	}
	if (style->header)
		strbuf_puts(out, "processes,pss_missing_processes\n");
	put_time(out, r, style);
	for (size_t i = 0; i < l->count; i++) {
		const struct field *f = l->item[i];

		if (!field_is_counter(f))
			continue;
		csv_put_value(out, f, process_field_of(f, r->snapshot, t->have, t->value));
		strbuf_putc(out, ',');
	}
	strbuf_printf(out, "%zu,%zu\n", t->processes, t->pss_missing);
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
		csv_put_head(out, l);
	for (size_t row = 0; row < r->row_count; row++) {
		put_time(out, r, style);
		for (size_t i = 0; i < l->count; i++) {
			const struct field *f = l->item[i];

			if (style->numeric && f->needs & NEEDS_USER)
				f = process_field("uid");
			csv_put_value(out, f, field_value(f, &r->rows[row], r->snapshot));
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
