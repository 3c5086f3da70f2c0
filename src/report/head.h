/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The first lines of a screen: where the RAM went, the largest part first, with what holds most of
 * it and the command that shows more; and the swap.
 */
#ifndef ZMEM_REPORT_HEAD_H
#define ZMEM_REPORT_HEAD_H

#include "fields/head_said.h"
#include "query/result.h"
#include "write/grid.h"

/* `ram`: with a census, parts are those of page frames and have holders. */
void head_begin(struct head *h, const struct snapshot *s, const struct ram *ram,
		const struct table_style *style);
/* The lines that head_put() can write: three, and one for each part; 2: parts are not known. */
size_t head_count(const struct head *h);
/*
 * Writes a line, without its end: the sums, a bar, headings, and the parts. With fewer `lines` than
 * head_count() the last one has the sum of the smaller parts.
 */
void head_put(const struct head *h, struct line *l, size_t i, size_t lines);

/* Looks for what holds most of each part, and for the fullest cgroups. */
void head_find(const struct head *h, struct head_all *ret);

/* The line of swap: what is in use, and its parts. */
void head_put_swap(const struct head *h, struct line *l);
/* All of them, with `lines` of RAM. */
void head_print(struct strbuf *out, const struct head *h, size_t lines);

#endif
