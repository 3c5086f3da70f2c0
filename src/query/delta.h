/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The change of a row, and of totals, since an earlier one. Pure. */
#ifndef ZMEM_QUERY_DELTA_H
#define ZMEM_QUERY_DELTA_H

#include <stdbool.h>
#include <stdint.h>

#include "query/sums.h"

/* The values of an earlier row. */
struct delta_row {
	counter_mask have;
	uint64_t hash; /* of all values and texts of the row: another hash means a change */
	uint64_t value[COUNTERS_OF_PROCESS];
	/* Of the last tick, also if the values are the first ones: PSS and swap, else RSS. */
	uint64_t last;
	uint8_t last_counter; /* COUNTER_COUNT: none was measured */
	uint32_t grew_ticks, ticks;
};

/* The change of a counter in bytes. False if the counter was not measured both times. */
bool delta_of(enum counter c, counter_mask have, const uint64_t *value, counter_mask have_before,
	      const uint64_t *before, int64_t *ret_bytes);
/* Bytes per second over `us` microseconds, rounded to nearest; `bytes` itself if `us` is 0. */
int64_t delta_rate(int64_t bytes, uint64_t us);
/* The change of a counter of a row, not per second. False if it is not known. */
bool delta_of_row(const struct row *r, enum counter c, int64_t *ret_bytes);
/* Likewise of totals. Totals of no processes are known: all are 0. */
bool delta_of_totals(enum counter c, const struct totals *now, const struct totals *before,
		     int64_t *ret_bytes);

#endif
