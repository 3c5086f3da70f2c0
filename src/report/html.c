// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Writes one HTML file: the page of src/report/page, which the Makefile assembles, with the data of
 * html_data.c in it. Only the data, the title, and the findings and the total (for readers without
 * JavaScript) differ from page to page. The live page of serve also has the additions of
 * src/serve/page.
 */
#include "report/report.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "report/findings.h"
#include "report/page_parts.h"
#include "report/summary.h"
#include "write/format.h"

/* Escapes text between tags. */
static const char *escape_markup(uint32_t c)
{
	return c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : NULL;
}

void html_put_text(struct strbuf *out, const char *s)
{
	cleanup(strbuf_done) struct strbuf text = {0};
	struct line line = {.out = &text};

	line_text(&line, s ? s : "", 0);
	strbuf_take_error(out, &text);
	text_put_mapped(out, strbuf_str(&text), SIZE_MAX, escape_markup);
}

static void put_host(struct strbuf *out, const struct result *r)
{
	html_put_text(out, r->snapshot->host.name);
}

/* A finding as an item of a list. The command would not be of the time of a recording. */
static void put_finding(struct strbuf *out, const struct finding *f, bool recorded)
{
	cleanup(strbuf_done) struct strbuf text = {}, run = {};

	finding_put(&(struct line){.out = &text}, f, SIZES_SHORT);
	finding_put_run(&(struct line){.out = &run}, f);
	strbuf_take_error(out, &text);
	strbuf_take_error(out, &run);
	strbuf_puts(out, "<li>");
	text_put_mapped(out, strbuf_str(&text), SIZE_MAX, escape_markup);
	if (run.len && !recorded) {
		strbuf_puts(out, " <code>zmem-bpf ");
		text_put_mapped(out, strbuf_str(&run), SIZE_MAX, escape_markup);
		strbuf_puts(out, "</code>");
	}
	strbuf_puts(out, "</li>\n");
}

static void put_findings(struct strbuf *out, const struct result *r, bool recorded)
{
	cleanup_free struct findings *found = malloc(sizeof(*found));

	if (!found) {
		out->error = -ENOMEM;
		return;
	}
	findings_find(r->snapshot, r, found);
	if (!found->count)
		return;
	strbuf_puts(out, "<ul>\n");
	for (size_t i = 0; i < found->count; i++)
		put_finding(out, &found->item[i], recorded);
	strbuf_puts(out, "</ul>\n");
}

static void put_total(struct strbuf *out, const struct result *r, const struct table_style *style)
{
	static const enum counter counters[] = {COUNTER_PSS, COUNTER_USS, COUNTER_RSS, COUNTER_SWAP,
						COUNTER_SWAP_PSS};
	cleanup(strbuf_done) struct strbuf text = {0};
	struct line line = {.out = &text};

	line_text(&line, r->snapshot->host.name, 0);
	line_ascii(&line, ": ", 2);
	summary_write(&line, r);
	strbuf_take_error(out, &text);
	put_findings(out, r, style->recorded);
	strbuf_puts(out, "<p>");
	text_put_mapped(out, strbuf_str(&text), SIZE_MAX, escape_markup);
	strbuf_puts(out, "</p>\n<dl>\n");
	for (size_t i = 0; i < ARRAY_SIZE(counters); i++) {
		const struct totals *t = &r->totals;
		char size[FORMAT_MAX];

		strbuf_puts(out, "<dt>");
		strbuf_puts(out, counter_table[counters[i]].header);
		strbuf_puts(out, "</dt><dd>");
		if (t->have & COUNTER_BIT(counters[i]))
			strbuf_put(out, size, format_size(size, t->value[counters[i]]));
		else
			strbuf_puts(out, "not measured");
		strbuf_puts(out, "</dd>\n");
	}
	strbuf_puts(out, "</dl>");
}

void render_html(struct strbuf *out, const struct result *r, const struct table_style *style)
{
	unpack(out, &page_head);
	put_host(out, r);
	unpack(out, &page_title);
	put_total(out, r, style);
	unpack(out, &page_body);
	render_page_json(out, r, style);
	unpack(out, &page_tail);
}

void render_live_page(struct strbuf *out, const struct result *r, const struct table_style *style)
{
	unpack(out, &live_head);
	put_host(out, r);
	unpack(out, &live_title);
	put_total(out, r, style);
	unpack(out, &live_body);
	render_page_json(out, r, style);
	unpack(out, &live_tail);
}

void render_past_page_begin(struct strbuf *out, const struct result *r,
			    const struct table_style *style)
{
	unpack(out, &past_head);
	put_host(out, r);
	unpack(out, &past_title);
	put_total(out, r, style);
	unpack(out, &past_body);
	render_page_json(out, r, style);
	strbuf_puts(out, "</script>\n<script type=\"application/json\" id=\"recording\">");
}

void render_past_page_end(struct strbuf *out)
{
	unpack(out, &past_tail);
}

void render_live_policy(struct strbuf *out)
{
	unpack(out, &live_policy);
}
