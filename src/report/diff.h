/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The changes between two snapshots. */
#ifndef ZMEM_REPORT_DIFF_H
#define ZMEM_REPORT_DIFF_H

#include "model/ram_change.h"
#include "query/change.h"
#include "report/report.h"

struct diff_report {
	const struct snapshot *before, *after;
	const struct field *group; /* NULL: rows are processes */
	const char *key;	   /* of what is compared: "pss_swap" */
	const char *what;	   /* in words: "PSS and swap" */
	const struct group_changes *changes;
	struct ram_changes ram;
	struct ended_processes ended; /* between them */
	size_t ended_shown;	      /* rows of the table */
	size_t shown;		      /* the first rows; the table sums the others */
	size_t small; /* rows that are left out because they changed by less than a page */
};

/*
 * The two moments, a line for each row, one for the rows that are not shown, the total, and what is
 * missing. Of the style, bytes, header, color and width are used.
 */
void render_diff_table(struct strbuf *out, const struct diff_report *r,
		       const struct table_style *style);
/* The document zmem.diff (src/dist/documents.txt), with a final newline. */
void render_diff_json(struct strbuf *out, const struct diff_report *r);
/* A line for each row, and one for the total (src/dist/documents.txt). */
void render_diff_ndjson(struct strbuf *out, const struct diff_report *r);
/* The rows in exact bytes. Of the style, header is used. */
void render_diff_csv(struct strbuf *out, const struct diff_report *r,
		     const struct table_style *style);

#endif
