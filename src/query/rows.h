/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The growing list of rows, which all steps of a query take and make. Pure. */
#ifndef ZMEM_QUERY_ROWS_H
#define ZMEM_QUERY_ROWS_H

#include <stddef.h>

#include "model/snapshot.h"

/* Rows: pointers into a snapshot. */
struct rows {
	struct process **item;
	size_t count;
	size_t capacity; /* of its own items, which are used again; 0: items are borrowed */
};

/* Forgets the items and makes room for `count`. Returns 0 or -ENOMEM. */
int rows_reserve(struct rows *rows, size_t count);
void rows_done(struct rows *rows);
/* Sets c->filtered: the processes that are not among the rows. */
void rows_count_filtered(const struct rows *rows, struct collection *c);
/* The source of the rows' PSS. */
enum pss_source rows_pss_source(const struct rows *rows);

#endif
