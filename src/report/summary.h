/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The summary of a result in words: how many processes hold how much, where PSS comes from, how the
 * spot checks ended, what is missing, and what the swap in use belongs to.
 */
#ifndef ZMEM_REPORT_SUMMARY_H
#define ZMEM_REPORT_SUMMARY_H

#include "query/result.h"
#include "write/line.h"
#include "write/style.h"

/* All of it in one line, but the swap. */
void summary_write(struct line *l, const struct result *r);
/* Lines that explain equal rows: no swap where they are sorted by it, groups by what none has. */
void summary_print_notes(struct strbuf *out, const struct result *r,
			 const struct table_style *style);
/*
 * A line for each subject, folded at blanks to the style's width. Without processes it is the
 * style's `nothing`. With a head (report/head.h) the machine is not told again.
 */
void summary_print(struct strbuf *out, const struct result *r, const struct table_style *style);
/* Of a recording: which processes ended before. */
void summary_print_ended(struct strbuf *out, const struct result *r,
			 const struct table_style *style);

#endif
