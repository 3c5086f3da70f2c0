/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The fields of growth by stack: of the document zmem.grow, and the columns of its table. */
#ifndef ZMEM_FIELDS_GROWTH_FIELDS_H
#define ZMEM_FIELDS_GROWTH_FIELDS_H

#include "fields/field.h"
#include "model/growth.h"

/* What rows are from. */
struct growth_rows {
	const struct growth *growth;
	int64_t grown;	  /* in a table: by the rows that grew */
	const char *code; /* likewise: the code of this row */
	const char *line; /* and the line of the place; NULL: not known */
};

/* The row is struct growth. */
extern const struct fields growth_document;
/* The same without frames and stacks. */
extern const struct fields growth_head;
/* Rows are struct growth_stack; "recent" is not per second. */
extern const struct fields growth_columns;
/*
 * The columns of a table for which none were asked; `heap`: allocators were asked, too; `rate`:
 * there are reports one after the other. Of these, growth_column_has() says whether the report has
 * something in it: errors, copies.
 */
void growth_list_usual(struct field_list *ret, bool heap, bool rate);
bool growth_column_has(const struct field *f, const struct growth *g);
/* By which rows are sorted where no column was asked for: the first one that is known. */
const struct field *growth_usual_key(const struct growth *g);
/* The row is one value for each enum growth_counter; the help is its name in /proc/PID/status. */
extern const struct fields growth_counters;

#endif
