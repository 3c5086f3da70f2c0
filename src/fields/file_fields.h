/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The fields of cached files and of sums of them: columns, sort keys and the document zmem.files.
 */
#ifndef ZMEM_FIELDS_FILE_FIELDS_H
#define ZMEM_FIELDS_FILE_FIELDS_H

#include "fields/field.h"
#include "model/files.h"

/* What rows are of: room for the texts that are made of the current row. Getters write into it. */
struct file_texts {
	char label[FILE_LABEL_MAX], state[FILE_STATE_MAX], device[24], key[24];
};

/* Rows are pointers to struct cached_file, of struct file_texts: the columns of files and groups.
 */
extern const struct fields file_fields;
/* The columns of files, or of groups of files. */
const struct fields *file_columns(bool groups);
/* The usual columns of a table. */
void file_list_usual(struct field_list *list, bool groups);
/* The column of that key. */
const struct field *file_field(const char *key);

/* The keys of a row in JSON. */
const struct fields *file_row_fields(const struct files_report *r);
extern const struct fields file_held_fields; /* of a file with its holders */
/* The fields of a row in CSV, or of the total: its row is the report. */
void file_list_csv(struct field_list *list, const struct files_report *r, bool total);
/* The row is the report: what was measured; the document. */
extern const struct fields file_measured;
const struct fields *file_document(const struct files_report *r);

#endif
