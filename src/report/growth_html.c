// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes the page of grow: src/report/page/grow.html with the document zmem.grow in it. */
#include "base/cleanup.h"
#include "report/growth.h"
#include "report/page_parts.h"
#include "write/format.h"

void render_growth_html(struct strbuf *out, const struct growth *g)
{
	char size[FORMAT_MAX];
	int64_t change = growth_sum(g->change);

	unpack(out, &grow_head);
	html_put_text(out, g->targets ? g->target[0].name : NULL);
	unpack(out, &grow_title);
	/* For readers without JavaScript. */
	strbuf_puts(out, "<p>");
	html_put_text(out, g->targets ? g->target[0].name : NULL);
	strbuf_puts(out, change < 0 ? ": -" : ": +");
	strbuf_put(out, size, format_size(size, (uint64_t)(change < 0 ? -change : change)));
	strbuf_puts(out, "</p>");
	unpack(out, &grow_body);
	render_growth_page_json(out, g);
	unpack(out, &grow_tail);
}
