/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A field of CSV, or of TSV (csv.c). */
#ifndef ZMEM_WRITE_CSV_H
#define ZMEM_WRITE_CSV_H

#include "base/strbuf.h"

/* A text as a field of CSV, which no spreadsheet takes for a formula, or, behind a tab, of TSV. */
void csv_put_text(struct strbuf *out, const char *s, char separator);

#endif
