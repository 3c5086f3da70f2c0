/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rows of growth: stacks by their place, with its commonest callers, or by their path. */
#ifndef ZMEM_REPORT_GROWTH_ROWS_H
#define ZMEM_REPORT_GROWTH_ROWS_H

#include "fields/growth_fields.h"

struct growth_row {
	/* The frames are the place and callers. `truncated`: there are further callers. */
	struct growth_stack sum;
	size_t paths; /* different ones, if rows are places */
	/* It sums so many rows, which say little: "places with an error …". 0: it is one row. */
	size_t joined;
	const char *why;
};

struct growth_rows_request {
	bool paths; /* a row for each path, not for each place */
	bool all;   /* also frames that say little: of interpreters, of what passes memory on */
	const struct field_list *keys; /* of growth_columns; NULL or empty: the usual one */
	bool reverse;
};

struct growth_row_list {
	const struct growth *growth;
	struct growth_row **row; /* in order */
	size_t rows, places;
	struct growth_stack all;
	int64_t grown; /* by the rows that grew */
	struct growth_row *item;
	uint32_t *frame;
};

/* Returns 0 or -ENOMEM; growth_rows_done() in either case. The growth must outlive the list. */
int growth_rows_make(const struct growth *g, const struct growth_rows_request *request,
		     struct growth_row_list *ret);
void growth_rows_done(struct growth_row_list *l);

#endif
