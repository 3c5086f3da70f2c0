/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The grid of processes or groups: which cells it has. */
#ifndef ZMEM_RENDER_TABLE_H
#define ZMEM_RENDER_TABLE_H

#include "render/grid.h"

struct table {
	/* Set by the caller; all of it is borrowed. */
	const struct result *r;
	const struct table_style *style;
	struct process *const *rows; /* those in sight; not only r->rows */
	size_t row_count;
	const struct column *marked; /* its heading stands out; NULL: none */

	struct grid grid;
};

/* Makes the grid; its widths stay as they are where they are wide enough. */
void table_place(struct table *t);

#endif
