/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The words of frames of growth. */
#ifndef ZMEM_REPORT_GROWTH_TEXT_H
#define ZMEM_REPORT_GROWTH_TEXT_H

#include "base/strbuf.h"
#include "model/growth.h"

/* The name of a frame, else the place in its file, else the address. */
void growth_put_frame(struct strbuf *out, const struct growth_frame *f);
/* "leak.c:12": the source without its directories. */
void growth_put_line(struct strbuf *out, const struct growth_frame *f);
/*
 * A name in `columns` of a terminal: without the type of its result, with "…" in place of the
 * arguments of templates, and in the middle, as far as that is needed. Returns its columns.
 */
unsigned growth_put_short(struct strbuf *out, const char *name, unsigned columns);

#endif
