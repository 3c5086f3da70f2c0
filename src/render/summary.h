/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The words of a table's last line: how much was summed, from which sources, and what is missing.
 */
#ifndef ZMEM_RENDER_SUMMARY_H
#define ZMEM_RENDER_SUMMARY_H

#include "render/line.h"
#include "query/result.h"

void summary_write(struct line *l, const struct result *r);
/*
 * Splits swap in use into what SWAP_PSS of processes explains and the rest. Writes nothing without
 * swap in use.
 */
void summary_swap(struct line *l, const struct result *r);

#endif
