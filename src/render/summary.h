/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The words of a table's last line: how much was summed, where from, and what to make of it. */
#ifndef ZMEM_RENDER_SUMMARY_H
#define ZMEM_RENDER_SUMMARY_H

#include "render/line.h"
#include "query/result.h"

void summary_write(struct line *l, const struct result *r);
/* Of swap in use what processes' SWAP_PSS adds up to, and what it does not; nothing without any. */
void summary_swap(struct line *l, const struct result *r);

#endif
