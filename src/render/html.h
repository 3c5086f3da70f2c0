/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The page in three parts. The total follows the first part, the data the second. */
#ifndef ZMEM_RENDER_HTML_H
#define ZMEM_RENDER_HTML_H

#include "base/unpack.h"
#include "render/render.h"

struct html_parts {
	struct packed head, body, tail;
};

void html_page(struct strbuf *out, const struct html_parts *parts, const struct result *r,
	       const struct table_style *style);

#endif
