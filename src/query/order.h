/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The order of rows, and of mappings. Pure. */
#ifndef ZMEM_QUERY_ORDER_H
#define ZMEM_QUERY_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fields/process_fields.h"
#include "model/maps.h"
#include "fields/row.h"

struct order {
	struct field_list keys;
	bool reverse;
};

/*
 * By this field. Where most rows have none of it, swap or growth, these by PSS, or by RSS without
 * `pss`: they are not in an arbitrary order.
 */
struct field_list order_keys(const struct field *f, bool pss);

/*
 * Sorts by the keys, then by pid: no two processes are equal. Counters, percentages and counts
 * (threads, procs, oom_score_adj) are biggest first, all else ascending. A value that was not
 * measured stands by the most that it can be (PSS by RSS), and last if it has no bound.
 */
void order_rows(const struct order *o, const struct snapshot *s, struct rows *rows);

/*
 * Finds the first `top` rows exactly, with as few expensive reads as possible. Puts the rows into
 * ret_need with expensive values that are unread (PSS_SKIPPED) and that, by the bounds of these
 * values, can still be among the first `top`. The caller reads them and calls again, until it
 * returns 0: the first `top` are certain. ret_need must have room for `top`. Reorders rows.
 */
size_t order_unread(const struct order *o, const struct snapshot *s, struct rows *rows, size_t top,
		    struct process **ret_need);

/*
 * Removes the rows that are below `min` bytes by the first key, or by PSS if that is no size. The
 * others come first; removed rows stay after them. A row that was not measured stays, unless its
 * bound is below.
 */
void order_at_least(const struct order *o, uint64_t min, struct rows *rows);

/*
 * Sorts mappings by the keys, of map_columns: sizes and numbers biggest first, all else
 * ascending, then by pid and address or by name.
 */
void order_maps(const struct order *o, struct mapping **rows, size_t count);

#endif
