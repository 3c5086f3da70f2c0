/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fields of any kind of row as JSON, as CSV and as cells of a table. */
#ifndef ZMEM_WRITE_FIELD_TEXT_H
#define ZMEM_WRITE_FIELD_TEXT_H

#include "fields/field.h"
#include "write/grid.h"
#include "write/json_writer.h"

/* Writes the key and the value of a field. `brief`: texts have the limits of short lines. */
void json_field(struct json_writer *w, const struct field *f, struct value v, bool brief);
/* The fields of a row, of what `of` is to field_value(). */
void json_fields(struct json_writer *w, const struct field_list *list, const void *row,
		 const void *of, bool brief);
/* Likewise all fields of a kind of row. If `brief`, rows in it are null: they are not bounded. */
void json_all(struct json_writer *w, const struct fields *all, const void *row, const void *of,
	      bool brief);
/* The same, each field in a line of its own. */
void json_lines(struct json_writer *w, const struct fields *all, const void *row, const void *of);

/* A text as a field of CSV, which no spreadsheet takes for a formula, or, behind a tab, of TSV
 * (csv.c). */
void csv_put_text(struct strbuf *out, const char *s, char separator);
/* A value of CSV or TSV, or nothing if it is not known. */
void csv_put_value(struct strbuf *out, const struct field *f, struct value v, char separator);
/* The keys of a list as the head of CSV, with the newline. */
void csv_put_head(struct strbuf *out, const struct field_list *list, char separator);
/* The values of a row, with the newline. */
void csv_put_fields(struct strbuf *out, const struct field_list *list, const void *row,
		    const void *of, char separator);

/* The cell of a value; the text is borrowed from it. */
struct cell cell_of_value(const struct field *f, struct value v);
/* Adds a column for a field: its heading, the type of its cells, and whether it has a sum. */
struct grid_column *grid_add(struct grid *g, const struct field *f);
/* The type of the cells of a field. */
enum cell_type cell_type_of(const struct field *f);

#endif
