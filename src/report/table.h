/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of processes or groups as a grid. */
#ifndef ZMEM_REPORT_TABLE_H
#define ZMEM_REPORT_TABLE_H

#include "report/report.h"
#include "write/grid.h"

struct table {
	/* Set by the caller and borrowed. */
	const struct result *r;
	const struct table_style *style;
	const struct row *rows; /* the rows to show, which may differ from r->rows */
	size_t row_count;
	const struct field *marked; /* its heading is highlighted; NULL: none */

	struct grid grid;
	char marked_name[1024]; /* of the current row: "ssh (deleted)", "tail (killed)" */
};

/* Prepares the grid. Widths from an earlier call only grow. */
void table_place(struct table *t);

#endif
