// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The live page of serve: the page of html.c with the additions of src/serve/page, and its content
 * security policy.
 */
#include "render/render.h"

#include "render/html.h"

static const unsigned char live_head[] = {
#include "render/live_head.inc"
};
static const unsigned char live_body[] = {
#include "render/live_body.inc"
};
static const unsigned char live_tail[] = {
#include "render/live_tail.inc"
};
static const unsigned char live_policy[] = {
#include "render/live_policy.inc"
};

void render_live_page(struct strbuf *out, const struct result *r, const struct table_style *style)
{
	const struct html_parts parts = {PACKED(live_head), PACKED(live_body), PACKED(live_tail)};

	html_page(out, &parts, r, style);
}

void render_live_policy(struct strbuf *out)
{
	unpack(out, PACKED(live_policy));
}
