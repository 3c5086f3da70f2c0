/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The change of a row, and of totals, since an earlier one. Pure. */
#ifndef ZMEM_QUERY_DELTA_H
#define ZMEM_QUERY_DELTA_H

#include <stdbool.h>
#include <stdint.h>

#include "query/sums.h"

/* Bytes per second over `us` microseconds, rounded to nearest; `bytes` itself if `us` is 0. */
int64_t delta_rate(int64_t bytes, uint64_t us);
/* The change of a counter of totals. False if it is not known. Totals of no processes are known:
 * all are 0. */
bool delta_of_totals(enum counter c, const struct totals *now, const struct totals *before,
		     int64_t *ret_bytes);

#endif
