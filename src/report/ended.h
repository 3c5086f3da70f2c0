/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tables of processes that ended. */
#ifndef ZMEM_REPORT_ENDED_H
#define ZMEM_REPORT_ENDED_H

#include "fields/ended_fields.h"
#include "report/report.h"
#include "write/say.h"

/* A line, which it does not end. */
void ended_put(struct line *l, const struct ended_processes *e, enum said_sizes sizes);
/*
 * A heading, and at most `rows` lines. If these are all rows, a line for the others. Nothing, if it
 * is not known which processes ended.
 */
void render_ended(struct strbuf *out, const struct ended_processes *e,
		  const struct sentences *heading, size_t rows, const struct table_style *style);

#endif
