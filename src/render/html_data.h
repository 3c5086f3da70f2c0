/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The JSON data of the page that html.c writes. */
#ifndef ZMEM_RENDER_HTML_DATA_H
#define ZMEM_RENDER_HTML_DATA_H

#include "base/strbuf.h"
#include "render/render.h"

/*
 * One JSON object with a top-level key a line, without '<', '>' and '&'. Of the style, columns,
 * group, only_total and numeric are used. If memory runs out, the strbuf holds the error.
 */
void html_data(struct strbuf *out, const struct result *r, const struct table_style *style);

#endif
