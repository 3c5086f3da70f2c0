/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The document that the page of html.c is fed with. */
#ifndef ZMEM_RENDER_HTML_DATA_H
#define ZMEM_RENDER_HTML_DATA_H

#include "base/strbuf.h"
#include "render/render.h"

/*
 * One JSON object, a top-level key a line, without '<', '>' and '&'. Of the style columns, group,
 * only_total and numeric count. Without memory the strbuf has the error.
 */
void html_data(struct strbuf *out, const struct result *r, const struct table_style *style);

#endif
