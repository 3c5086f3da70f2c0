/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The last hour in memory that never grows: the machine's figures and the largest groups, a point
 * every so many seconds. Pure.
 */
#ifndef ZMEM_SERVE_HOUR_H
#define ZMEM_SERVE_HOUR_H

#include "base/strbuf.h"
#include "zmem/result.h"

#define HOUR_POINTS 240
#define HOUR_STEP_S 15 /* which makes an hour */
#define HOUR_GROUPS 8
#define HOUR_NAME   64

struct hour_point {
	int64_t time_ms;
	uint32_t have; /* bit for each figure */
	uint64_t ram_used, ram_available, swap_used, pss;
	struct {
		char name[HOUR_NAME]; /* its beginning; empty: none */
		uint64_t bytes;	      /* PSS and swap */
	} group[HOUR_GROUPS];
};

struct hour {
	struct hour_point point[HOUR_POINTS];
	size_t next, count;
};

/* Of a result whose rows are groups. */
void hour_add(struct hour *h, const struct result *r);
/* {"step_s":15,"points":[{"time_ms",…,"groups":[{"name","bytes"},…]},…]}, oldest first. */
void hour_json(const struct hour *h, struct strbuf *out);

#endif
