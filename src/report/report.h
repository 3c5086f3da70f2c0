/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The renderers: a result as text. Renderers are pure: they write into a strbuf, which its owner
 * may flush in chunks, so that memory does not grow with the rows. The strbuf keeps errors.
 */
#ifndef ZMEM_REPORT_REPORT_H
#define ZMEM_REPORT_REPORT_H

#include <stdbool.h>

#include "base/strbuf.h"
#include "fields/process_fields.h"
#include "fields/system_fields.h"
#include "model/comparison.h"
#include "model/files.h"
#include "model/maps.h"
#include "query/result.h"
#include "write/style.h"

/*
 * The headings, a line for each row, a line for the rows that are not shown, if any, the total, and
 * the summary: the source of PSS, the outcome of the cross-check, what is missing, swap in use.
 * Text of processes is escaped: no control character, invalid UTF-8 or direction override reaches
 * the terminal.
 */
void render_table(struct strbuf *out, const struct result *r, const struct table_style *style);

/*
 * The cells that differ (or all), a line for each counter, the cost, whether the machine's totals
 * reconcile, and the verdict. Of the style, bytes, header, color and width are used.
 */
void render_compare_table(struct strbuf *out, const struct compare_report *r,
			  const struct table_style *style);
/* The document zmem.compare (src/dist/documents.txt), with a final newline. */
void render_compare_json(struct strbuf *out, const struct compare_report *r);

/* The style gives bytes, header, color and width. */
void render_system_table(struct strbuf *out, const struct system_report *r,
			 const struct table_style *style);
/* The document zmem.system (src/dist/documents.txt), with a final newline. */
void render_system_json(struct strbuf *out, const struct system_report *r);

/*
 * Mappings, or sums by file: the headings, a line each, a line for those that are not shown, the
 * total. Of the style, bytes, header, only_total, color and width are used.
 */
void render_maps_table(struct strbuf *out, const struct maps_report *r,
		       const struct table_style *style);
/* The document zmem.maps (src/dist/documents.txt), with a final newline. */
void render_maps_json(struct strbuf *out, const struct maps_report *r);

/*
 * Cached files or groups of them, as a table like that of maps, and below it what they leave of the
 * kernel's own sums.
 */
void render_files_table(struct strbuf *out, const struct files_report *r,
			const struct table_style *style);
/* The document zmem.files (src/dist/documents.txt), with a final newline. */
void render_files_json(struct strbuf *out, const struct files_report *r);
/* The same, for a script element of a page. */
void render_files_page_json(struct strbuf *out, const struct files_report *r);
/* A page with that document. */
void render_files_page(struct strbuf *out, const struct files_report *r);
/* The page of files that serve keeps up to date, with this document, and its security policy. */
void render_live_files_page(struct strbuf *out, const char *host, const struct strbuf *document);
void render_live_files_policy(struct strbuf *out);
/* A line for each row and one for all of them (src/dist/documents.txt). */
void render_files_ndjson(struct strbuf *out, const struct files_report *r);
/* The style gives header and only_total. */
void render_files_csv(struct strbuf *out, const struct files_report *r,
		      const struct table_style *style);

/*
 * The line before the table of a tick: its time, the base of the deltas, started and ended
 * processes, and our own cost. Of the style, color is used.
 */
void render_tick(struct strbuf *out, const struct result *r, const struct table_style *style);

/* The document zmem.snapshot (src/dist/documents.txt), with a final newline. */
void render_json(struct strbuf *out, const struct result *r);
/* A line for each row and one for the snapshot (src/dist/documents.txt). */
void render_ndjson(struct strbuf *out, const struct result *r);
/* The same; `line` is a buffer that the caller reuses. */
void render_ndjson_with(struct strbuf *out, struct strbuf *line, const struct result *r);
/*
 * The rows in exact bytes, or only the sums (only_total). Of the style, columns, header, only_total
 * and numeric are used.
 */
void render_csv(struct strbuf *out, const struct result *r, const struct table_style *style);
/*
 * The parts of PSS and swap of each row as frames of a flame graph; the rows that are not shown are
 * one frame. Of the style, only_total and numeric are used.
 */
void render_folded(struct strbuf *out, const struct result *r, const struct table_style *style);
/*
 * A self-contained page for a browser: bars of the machine, a map of memory, a table. Of the style,
 * columns (the initial ones), group, recorded, only_total and numeric are used.
 */
void render_html(struct strbuf *out, const struct result *r, const struct table_style *style);

#define METRICS_GROUPS_MAX 1000 /* further rows are merged into one */

/*
 * OpenMetrics 1.0 and Prometheus text 0.0.4: the groups by name, the machine and the collection.
 * Values that were not measured have no line. Rows that are not shown are the group "other". Of the
 * style, numeric is used.
 */
void render_openmetrics(struct strbuf *out, const struct result *r,
			const struct table_style *style);
void render_prometheus(struct strbuf *out, const struct result *r, const struct table_style *style);

/* Resources that a process has used since its start. */
struct cost {
	uint64_t cpu_us;
	uint64_t resident; /* bytes; 0: not known */
	uint64_t fds;
};

/* Since the start. */
struct collected {
	/* Processes that could not be read. */
	uint64_t gone, denied, timeout, raced, not_seen;
	uint64_t collections, failures;
};

/* What a continuously running program reports about itself. */
struct metrics_self {
	struct collected collected;
	struct {
		const char *role;
		struct cost cost;
	} process[2];
	int64_t start_ms; /* since the epoch */
	struct {
		unsigned code;
		uint64_t count;
	} responses[16]; /* code 0 ends the list */
	uint64_t connections;
	uint64_t groups_tracked;
	double groups_error; /* bytes */
	/* OOM kills: rows are groups, with their kills as processes. NULL: they are not watched. */
	const struct result *kills;
};

/* The metrics in either format, with those of `self` unless it is NULL. */
void render_metrics(struct strbuf *out, const struct result *r, bool numeric, bool open_metrics,
		    const struct metrics_self *self);
/*
 * The page of incidents, up to the JSON of the recording that incidents.c writes into it, and
 * after it. The result is the snapshot for readers without JavaScript.
 */
void render_past_page_begin(struct strbuf *out, const struct result *r,
			    const struct table_style *style);
void render_past_page_end(struct strbuf *out);

/* Text between tags; NULL is the empty text. */
void html_put_text(struct strbuf *out, const char *s);

/*
 * The live page, which shows the result and then fetches page.json and history.json; the text of
 * page.json; and the content security policy of the page, one line for a header.
 */
void render_live_page(struct strbuf *out, const struct result *r, const struct table_style *style);
void render_page_json(struct strbuf *out, const struct result *r, const struct table_style *style);
void render_live_policy(struct strbuf *out);

#endif
