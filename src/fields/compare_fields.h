/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The fields of a comparison: of the document zmem.compare, and the columns of its cells. */
#ifndef ZMEM_FIELDS_COMPARE_FIELDS_H
#define ZMEM_FIELDS_COMPARE_FIELDS_H

#include "fields/field.h"
#include "fields/sentence.h"
#include "model/comparison.h"

/* The row is struct compare_report, which rows in it are from as well. */
extern const struct fields compare_document;
/* Rows are struct compare_cell of a struct compare_report. */
extern const struct fields compare_columns;
/* About the document: below the tables, and the last line. */
extern const struct sentences compare_said, compare_verdict;

#endif
