/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The last hour in memory that never grows: the machine's values and the largest groups, a point
 * every so many seconds. Pure.
 */
#ifndef ZMEM_SERVE_HISTORY_RING_H
#define ZMEM_SERVE_HISTORY_RING_H

#include "base/strbuf.h"
#include "query/result.h"

#define HISTORY_POINTS 240
#define HISTORY_STEP_S 15 /* which makes an hour */
#define HISTORY_GROUPS 8
#define HISTORY_NAME   64

struct history_point {
	int64_t time_ms;
	uint32_t have; /* bit for each value */
	uint64_t ram_used, ram_available, swap_used, pss;
	struct {
		char name[HISTORY_NAME]; /* its beginning; empty: none */
		uint64_t bytes;		 /* PSS and swap */
	} group[HISTORY_GROUPS];
};

struct history_ring {
	struct history_point point[HISTORY_POINTS];
	size_t next, count;
};

/* Of a result whose rows are groups. */
void history_ring_add(struct history_ring *h, const struct result *r);
/* {"step_s":15,"points":[{"time_ms",…,"groups":[{"name","bytes"},…]},…]}, oldest first. */
void history_ring_json(const struct history_ring *h, struct strbuf *out);

#endif
