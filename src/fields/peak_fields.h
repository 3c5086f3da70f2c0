/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The fields of the peak of a command: of the document zmem.peak, and the columns of its table. */
#ifndef ZMEM_FIELDS_PEAK_FIELDS_H
#define ZMEM_FIELDS_PEAK_FIELDS_H

#include "fields/field.h"
#include "model/peak.h"

/* The row is struct peak. The command comes before them. */
extern const struct fields peak_document;
/* Rows are struct peak_process. */
extern const struct fields peak_columns;

#endif
