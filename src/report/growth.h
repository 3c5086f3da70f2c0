/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Growth by stack as text and as documents for other programs. */
#ifndef ZMEM_REPORT_GROWTH_H
#define ZMEM_REPORT_GROWTH_H

#include "model/growth.h"
#include "report/report.h"

/* What a table shows. */
struct growth_view {
	size_t rows;		/* the first ones; a row sums the others */
	bool paths;		/* a row for each path to a place; else for each place */
	bool chosen;		/* all columns were asked for, also those that have nothing */
	struct field_list keys; /* columns by which rows are sorted; none: the usual one */
	bool reverse;
};

/*
 * A row for each place; the sums, and whether they are those of the counters. Of the style, columns
 * (NULL: the usual ones), bytes, header, color, width and wide are used.
 */
void render_growth_table(struct strbuf *out, const struct growth *g, const struct growth_view *view,
			 const struct table_style *style);
/* The document zmem.grow (src/dist/documents.txt), with a final newline. */
void render_growth_json(struct strbuf *out, const struct growth *g);
/* A self-contained page for a browser: a flame graph and the places. */
void render_growth_html(struct strbuf *out, const struct growth *g);
/*
 * Folded stacks: the frames from the outermost on, and the bytes of a column of growth_columns. Of
 * growth each place has what the table says (growth_parts()); what is below 0 has "[given back]" as
 * its first frame, and the others less these add up to the growth.
 */
void render_growth_folded(struct strbuf *out, const struct growth *g, const struct field *column);
/*
 * A profile of pprof, not compressed: growth, added bytes, changes; what is still there, held and
 * allocated, where it is known.
 */
void render_growth_pprof(struct strbuf *out, const struct growth *g);

#endif
