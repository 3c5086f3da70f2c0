/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The words of folded stacks. */
#ifndef ZMEM_REPORT_FOLDED_H
#define ZMEM_REPORT_FOLDED_H

#include "base/strbuf.h"

/* A frame without its separator; "-" for an empty name, which would drop the frame. */
void folded_put_frame(struct strbuf *out, const char *s);

#endif
