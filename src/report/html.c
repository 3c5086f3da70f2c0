// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Writes one HTML file: the page of src/report/page, which the Makefile assembles, with the data of
 * html_data.c in it. Only the data, the title and the total (for readers without JavaScript) differ
 * from page to page. The live page of serve also has the additions of src/serve/page.
 */
#include "report/report.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/unpack.h"
#include "report/summary.h"
#include "write/format.h"

/* The page before the host's name, up to the total, between the total and the data, and after the
 * data. */
static const unsigned char page_head[] = {
#include "report/head.inc"
};
static const unsigned char page_title[] = {
#include "report/title.inc"
};
static const unsigned char page_body[] = {
#include "report/body.inc"
};
static const unsigned char page_tail[] = {
#include "report/tail.inc"
};
/* The same of the live page, and its content security policy. */
static const unsigned char live_head[] = {
#include "report/live_head.inc"
};
static const unsigned char live_title[] = {
#include "report/live_title.inc"
};
static const unsigned char live_body[] = {
#include "report/live_body.inc"
};
static const unsigned char live_tail[] = {
#include "report/live_tail.inc"
};
static const unsigned char live_policy[] = {
#include "report/live_policy.inc"
};

/* The same of the page of incidents. */
static const unsigned char past_head[] = {
#include "report/past_head.inc"
};
static const unsigned char past_title[] = {
#include "report/past_title.inc"
};
static const unsigned char past_body[] = {
#include "report/past_body.inc"
};
static const unsigned char past_tail[] = {
#include "report/past_tail.inc"
};

struct html_parts {
	struct packed head, title, body, tail;
};

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
	if (!out->error)
		out->error = strbuf_error(&text);
	text_put_mapped(out, strbuf_str(&text), SIZE_MAX, escape_markup);
}

static void put_host(struct strbuf *out, const struct result *r)
{
	html_put_text(out, r->snapshot->host.name);
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

static void put_page(struct strbuf *out, const struct html_parts *parts, const struct result *r,
		     const struct table_style *style)
{
	unpack(out, parts->head);
	put_host(out, r);
	unpack(out, parts->title);
	put_total(out, r);
	unpack(out, parts->body);
	render_page_json(out, r, style);
	unpack(out, parts->tail);
}

void render_html(struct strbuf *out, const struct result *r, const struct table_style *style)
{
	const struct html_parts parts = {PACKED(page_head), PACKED(page_title), PACKED(page_body),
					 PACKED(page_tail)};

	put_page(out, &parts, r, style);
}

void render_live_page(struct strbuf *out, const struct result *r, const struct table_style *style)
{
	const struct html_parts parts = {PACKED(live_head), PACKED(live_title), PACKED(live_body),
					 PACKED(live_tail)};

	put_page(out, &parts, r, style);
}

void render_past_page_begin(struct strbuf *out, const struct result *r,
			    const struct table_style *style)
{
	unpack(out, PACKED(past_head));
	put_host(out, r);
	unpack(out, PACKED(past_title));
	put_total(out, r);
	unpack(out, PACKED(past_body));
	render_page_json(out, r, style);
	strbuf_puts(out, "</script>\n<script type=\"application/json\" id=\"recording\">");
}

void render_past_page_end(struct strbuf *out)
{
	unpack(out, PACKED(past_tail));
}

void render_live_policy(struct strbuf *out)
{
	unpack(out, PACKED(live_policy));
}
