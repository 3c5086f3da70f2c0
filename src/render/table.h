/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A table in pieces: for whoever shows some of its lines, and those again and again. Widths only
 * grow, so that nothing moves without need.
 */
#ifndef ZMEM_RENDER_TABLE_H
#define ZMEM_RENDER_TABLE_H

#include "render/line.h"
#include "zmem/render.h"

struct table {
	const struct result *r;
	const struct table_style *style;
	const struct column *const *column;
	size_t columns;
	bool last_is_text;
	const struct column *marked; /* its header stands out; NULL: none */
	unsigned width[COLUMNS_MAX];
};

/* Without widths; what the arguments point to must stay. */
void table_start(struct table *t, const struct result *r, const struct table_style *style);
/* Makes room for the header, the sums, and these rows. */
void table_measure(struct table *t, struct process *const *rows, size_t count);
/* All three leave the line open, and keep its attribute. */
void table_header(const struct table *t, struct line *l);
void table_row(const struct table *t, struct line *l, const struct process *p);
/* Up to where words may follow: in the last column, if that one has text. */
void table_sums(const struct table *t, struct line *l, const struct totals *sum);

#endif
