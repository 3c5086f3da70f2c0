// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Writes one HTML file: the page of src/render/page, which the Makefile assembles and which loads
 * nothing from elsewhere, with the data of html_data.c in it. Only the data and the total (for
 * readers without JavaScript) differ from page to page.
 */
#include "render/render.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "render/format.h"
#include "render/html.h"
#include "render/html_data.h"
#include "render/summary.h"

/* The page before the total, between the total and the data, and after the data. */
static const unsigned char page_head[] = {
#include "render/head.inc"
};
static const unsigned char page_body[] = {
#include "render/body.inc"
};
static const unsigned char page_tail[] = {
#include "render/tail.inc"
};

/* Escapes text between tags. */
static void put_text(struct strbuf *out, const char *s)
{
	for (; *s; s++) {
		switch (*s) {
		case '<':
			strbuf_puts(out, "&lt;");
			break;
		case '>':
			strbuf_puts(out, "&gt;");
			break;
		case '&':
			strbuf_puts(out, "&amp;");
			break;
		default:
			strbuf_putc(out, *s);
		}
	}
}

static void put_total(struct strbuf *out, const struct result *r)
{
	static const enum counter counters[] = {COUNTER_PSS, COUNTER_USS, COUNTER_RSS, COUNTER_SWAP,
						COUNTER_SWAP_PSS};
	cleanup(strbuf_done) struct strbuf text = {0};
	struct line line = {.out = &text};

	line_text(&line, r->snapshot->host.name, 0);
	line_ascii(&line, ": ", 2);
	summary_write(&line, r);
	if (!out->error)
		out->error = strbuf_error(&text);
	strbuf_puts(out, "<p>");
	put_text(out, strbuf_str(&text));
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

void html_page(struct strbuf *out, const struct html_parts *parts, const struct result *r,
	       const struct table_style *style)
{
	unpack(out, parts->head);
	put_total(out, r);
	unpack(out, parts->body);
	html_data(out, r, style);
	unpack(out, parts->tail);
}

void render_html(struct strbuf *out, const struct result *r, const struct table_style *style)
{
	const struct html_parts parts = {PACKED(page_head), PACKED(page_body), PACKED(page_tail)};

	html_page(out, &parts, r, style);
}

void render_page_json(struct strbuf *out, const struct result *r, const struct table_style *style)
{
	html_data(out, r, style);
}
