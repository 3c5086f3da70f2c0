/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A result as text. Renderers are pure: they write into a strbuf, which its owner may flush in
 * chunks, so that memory does not grow with the rows. Errors stay in the strbuf.
 */
#ifndef ZMEM_RENDER_H
#define ZMEM_RENDER_H

#include <stdbool.h>

#include "base/strbuf.h"
#include "zmem/column.h"
#include "zmem/compare.h"
#include "zmem/maps.h"
#include "zmem/result.h"

struct table_style {
	const struct column_list *columns;
	bool bytes; /* exact bytes, not KiB MiB GiB */
	bool header;
	bool only_total; /* no rows */
	bool color;	 /* SGR sequences */
	unsigned width;	 /* cut lines to so many columns, 0: never */
	bool wide;	 /* no text is cut to its column, only to the line */
	bool numeric;	 /* uids in place of user names */
};

/*
 * Columns, one line a row, a line for the rows that are not shown if there are any, and the total,
 * which also says where PSS came from and how the cross-check went. Text of processes is escaped:
 * no control character, no invalid UTF-8 and no direction override reaches the terminal.
 */
void render_table(struct strbuf *out, const struct result *r, const struct table_style *style);

/* What a comparison found, for people and machines. */
struct compare_report {
	const struct comparison *comparison;
	const struct result *books; /* whether the machine's totals close, and its snapshot */
	struct compare_cost cost;
	bool all; /* also the cells that are the same */
};

/*
 * The cells that are not the same, or all; a line for each counter; what it cost; whether the
 * books close; the verdict. Of the style bytes, header, color, width and wide count.
 */
void render_compare_table(struct strbuf *out, const struct compare_report *r,
			  const struct table_style *style);
/* The document zmem.compare (src/dist/zmem.compare.schema.json), with a final newline. */
void render_compare_json(struct strbuf *out, const struct compare_report *r);

/*
 * Mappings, or sums by file: columns, a line each, one for those that are not shown, the total. Of
 * the style all but columns and numeric count.
 */
void render_maps_table(struct strbuf *out, const struct maps_report *r,
		       const struct table_style *style);
/* The document zmem.maps (src/dist/zmem.maps.schema.json), with a final newline. */
void render_maps_json(struct strbuf *out, const struct maps_report *r);

/* The document zmem.snapshot (src/dist/zmem.snapshot.schema.json), with a final newline. */
void render_json(struct strbuf *out, const struct result *r);

#endif
