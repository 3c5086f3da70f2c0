/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A field of CSV (csv.c). */
#ifndef ZMEM_WRITE_CSV_H
#define ZMEM_WRITE_CSV_H

#include "base/strbuf.h"

/* A text as a field, which no spreadsheet takes for a formula (csv.c). */
void csv_put_text(struct strbuf *out, const char *s);

#endif
