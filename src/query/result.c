// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What of the rows is shown, and what the others add up to. */
#include "query/result.h"

void result_cut(struct result *r, struct collection *c, const struct rows *rows, size_t shown,
		bool pruned)
{
	r->rows = rows->item;
	r->row_count = shown;
	r->others_count = rows->count - shown;
	totals_sum(rows->item + shown, r->others_count, pruned, &r->others);
	totals_sum(rows->item, rows->count, pruned, &r->totals);
	c->reported = 0;
	for (size_t i = 0; i < shown; i++)
		c->reported += (uint32_t)process_count(rows->item[i]);
}
