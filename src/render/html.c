// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * One file to look at with a browser: the page of src/render/page, which the Makefile puts together
 * and which asks for nothing from anywhere, with the data of html_data.c in it. The page is the
 * same for everybody: what is written here are the data, and the total for those without scripts.
 */
#include "zmem/render.h"

#include <string.h>

#include "base/cleanup.h"
#include "render/format.h"
#include "render/html_data.h"
#include "render/summary.h"

static const unsigned char page[] = {
#include "render/page.inc"
};

static const unsigned char live_page[] = {
#include "render/live.inc"
};

static const char live_policy[] = {
#include "render/live_policy.inc"
	0};

/* Where something goes into the page. Each stands in it once, in this order. */
#define TOTAL_MARK "<!--total-->"
#define DATA_MARK  "<!--data-->"

/* What is left of a page. */
struct rest {
	const char *at, *end;
};

/* Up to the mark; what is left follows it. */
static void put_until(struct strbuf *out, struct rest *rest, const char *mark)
{
	const char *end = memmem(rest->at, (size_t)(rest->end - rest->at), mark, strlen(mark));

	if (!end)
		return;
	strbuf_put(out, rest->at, (size_t)(end - rest->at));
	rest->at = end + strlen(mark);
}

/* Text between tags. */
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
	static const enum counter figures[] = {COUNTER_PSS, COUNTER_USS, COUNTER_RSS, COUNTER_SWAP,
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
	for (size_t i = 0; i < ARRAY_SIZE(figures); i++) {
		const struct totals *t = &r->totals;
		char size[FORMAT_MAX];

		strbuf_puts(out, "<dt>");
		strbuf_puts(out, counter_table[figures[i]].header);
		strbuf_puts(out, "</dt><dd>");
		if (t->have & COUNTER_BIT(figures[i]))
			strbuf_put(out, size, format_size(size, t->value[figures[i]]));
		else
			strbuf_puts(out, "not measured");
		strbuf_puts(out, "</dd>\n");
	}
	strbuf_puts(out, "</dl>");
}

static void put_page(struct strbuf *out, struct rest rest, const struct result *r,
		     const struct table_style *style)
{
	put_until(out, &rest, TOTAL_MARK);
	put_total(out, r);
	put_until(out, &rest, DATA_MARK);
	html_data(out, r, style);
	strbuf_put(out, rest.at, (size_t)(rest.end - rest.at));
}

void render_html(struct strbuf *out, const struct result *r, const struct table_style *style)
{
	const char *at = (const char *)page;

	put_page(out, (struct rest){at, at + sizeof(page)}, r, style);
}

void render_live_page(struct strbuf *out, const struct result *r, const struct table_style *style)
{
	const char *at = (const char *)live_page;

	put_page(out, (struct rest){at, at + sizeof(live_page)}, r, style);
}

void render_page_json(struct strbuf *out, const struct result *r, const struct table_style *style)
{
	html_data(out, r, style);
}

const char *render_live_policy(void)
{
	return live_policy;
}
