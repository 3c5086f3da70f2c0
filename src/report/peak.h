/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The peak of a command as a table, a document and a page. */
#ifndef ZMEM_REPORT_PEAK_H
#define ZMEM_REPORT_PEAK_H

#include "base/strbuf.h"
#include "model/peak.h"
#include "write/style.h"

/* `rows`: processes, at most. */
void render_peak_table(struct strbuf *out, const struct peak *p, size_t rows,
		       const struct table_style *style);
void render_peak_json(struct strbuf *out, const struct peak *p);
void render_peak_html(struct strbuf *out, const struct peak *p);

#endif
