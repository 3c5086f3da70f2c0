/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of cached files as a grid. */
#ifndef ZMEM_REPORT_FILES_TABLE_H
#define ZMEM_REPORT_FILES_TABLE_H

#include "fields/file_fields.h"
#include "report/report.h"
#include "write/grid.h"

struct files_table {
	/* Set by the caller and borrowed. */
	const struct files_report *r;
	const struct table_style *style;
	const struct field *marked; /* its heading is highlighted; NULL: none */

	struct grid grid;
	struct file_texts texts; /* of the current row */
	struct strbuf holders;	 /* likewise */
};

/* Prepares the grid. Widths from an earlier call only grow. */
void files_table_place(struct files_table *t);
void files_table_done(struct files_table *t);

#endif
