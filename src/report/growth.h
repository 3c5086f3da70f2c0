/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Growth by stack as text and as documents for other programs. */
#ifndef ZMEM_REPORT_GROWTH_H
#define ZMEM_REPORT_GROWTH_H

#include "model/growth.h"
#include "report/report.h"

/*
 * A row for each stack, the first `rows` alone; the sums, and whether they are those of the
 * counters. Of the style, columns (NULL: the usual ones), bytes, header, color, width and wide are
 * used.
 */
void render_growth_table(struct strbuf *out, const struct growth *g, size_t rows,
			 const struct table_style *style);
/* The document zmem.grow (src/dist/documents.txt), with a final newline. */
void render_growth_json(struct strbuf *out, const struct growth *g);
/* The same for a script in a page: nothing in it ends the script. */
void render_growth_page_json(struct strbuf *out, const struct growth *g);
/* A self-contained page for a browser: a flame graph and the places. */
void render_growth_html(struct strbuf *out, const struct growth *g);
/* Folded stacks: the frames from the outermost on and the bytes of those that grew. */
void render_growth_folded(struct strbuf *out, const struct growth *g);
/* A profile of pprof, not compressed: net growth, added bytes, changes. */
void render_growth_pprof(struct strbuf *out, const struct growth *g);

#endif
