/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A result as text. Renderers are pure: they write into a strbuf, which its owner may flush in
 * chunks, so that memory does not grow with the rows. Errors stay in the strbuf.
 */
#ifndef ZMEM_RENDER_H
#define ZMEM_RENDER_H

#include <stdbool.h>

#include "base/strbuf.h"
#include "query/account.h"
#include "model/column.h"
#include "compare/compare.h"
#include "model/maps.h"
#include "query/result.h"

struct table_style {
	const struct column_list *columns;
	bool bytes; /* exact bytes, not KiB MiB GiB */
	bool header;
	bool only_total;	    /* no rows */
	bool color;		    /* SGR sequences */
	unsigned width;		    /* cut lines to so many columns, 0: never */
	bool wide;		    /* no text is cut to its column, only to the line */
	bool numeric;		    /* uids in place of user names */
	const struct column *group; /* of html: what is grouped by at first; NULL: nothing */
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
	const struct result *balance; /* whether the machine's totals close, and its snapshot */
	struct compare_cost cost;
	bool all; /* also the cells that are the same */
};

/*
 * The cells that are not the same, or all; a line for each counter; what it cost; whether the
 * books close; the verdict. Of the style bytes, header, color and width count.
 */
void render_compare_table(struct strbuf *out, const struct compare_report *r,
			  const struct table_style *style);
/* The document zmem.compare (src/dist/zmem.compare.schema.json), with a final newline. */
void render_compare_json(struct strbuf *out, const struct compare_report *r);

/* Of the style bytes, header, color and width count. */
void render_system_table(struct strbuf *out, const struct system_report *r,
			 const struct table_style *style);
/* The document zmem.system (src/dist/zmem.system.schema.json), with a final newline. */
void render_system_json(struct strbuf *out, const struct system_report *r);

/*
 * Mappings, or sums by file: columns, a line each, one for those that are not shown, the total. Of
 * the style bytes, header, only_total, color and width count.
 */
void render_maps_table(struct strbuf *out, const struct maps_report *r,
		       const struct table_style *style);
/* The document zmem.maps (src/dist/zmem.maps.schema.json), with a final newline. */
void render_maps_json(struct strbuf *out, const struct maps_report *r);

/*
 * The line that comes before the table of a tick: when it was, what its changes are counted from,
 * what has happened since, what we cost. Of the style color counts.
 */
void render_tick(struct strbuf *out, const struct result *r, const struct table_style *style);

/* The document zmem.snapshot (src/dist/zmem.snapshot.schema.json), with a final newline. */
void render_json(struct strbuf *out, const struct result *r);
/* A line for each row and one for the snapshot (src/dist/zmem.ndjson.schema.json). */
void render_ndjson(struct strbuf *out, const struct result *r);
/* The same with memory for a line that its owner keeps. */
void render_ndjson_with(struct strbuf *out, struct strbuf *line, const struct result *r);
/*
 * The rows in exact bytes, or the sums alone (only_total). Of the style columns, header, only_total
 * and numeric count.
 */
void render_csv(struct strbuf *out, const struct result *r, const struct table_style *style);
/*
 * The parts of PSS and swap of each row as frames of a flame graph, the rows that are not shown as
 * one. Of the style only_total and numeric count.
 */
void render_folded(struct strbuf *out, const struct result *r, const struct table_style *style);
/*
 * A page for a browser that needs nothing but itself: bars of the machine, a map of memory, a
 * table. Of the style columns (those it shows at first), group, only_total and numeric count.
 */
void render_html(struct strbuf *out, const struct result *r, const struct table_style *style);

#define METRICS_GROUPS_MAX 1000 /* more rows than that are one */

/*
 * OpenMetrics 1.0, and the Prometheus text 0.0.4: the groups by their names, the machine and the
 * collection; what was not measured has no line. Rows that are not shown are the group "other". Of
 * the style numeric counts.
 */
void render_openmetrics(struct strbuf *out, const struct result *r,
			const struct table_style *style);
void render_prometheus(struct strbuf *out, const struct result *r, const struct table_style *style);

/* What a program that stays says of itself beside the values of its last collection. */
struct metrics_own {
	uint64_t gone, denied, timeout, raced; /* processes that could not be read so far */
	uint64_t collections, failures;
	struct {
		const char *role;
		uint64_t cpu_us, resident; /* resident 0: not known */
		uint64_t fds;
	} process[2];
	int64_t start_ms; /* since the epoch */
	struct {
		unsigned code;
		uint64_t count;
	} answered[16]; /* code 0: no more */
	uint64_t connections;
	uint64_t groups_tracked;
	double groups_error; /* bytes */
};

/* Likewise in either text, with that. */
void render_metrics(struct strbuf *out, const struct result *r, bool numeric, bool open_metrics,
		    const struct metrics_own *own);
/*
 * The page again, which keeps asking for page.json and history.json beside it; and what page.json
 * is. What it has on it at first is the result. Its policy is a line for a header.
 */
void render_live_page(struct strbuf *out, const struct result *r, const struct table_style *style);
void render_page_json(struct strbuf *out, const struct result *r, const struct table_style *style);
void render_live_policy(struct strbuf *out);

#endif
