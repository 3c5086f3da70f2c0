/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps the last hour in memory of a fixed size: values of the machine and the largest groups, one
 * point every HISTORY_STEP_S seconds. Pure.
 */
#ifndef ZMEM_SERVE_HISTORY_RING_H
#define ZMEM_SERVE_HISTORY_RING_H

#include "base/strbuf.h"
#include "query/result.h"
#include "serve/kill_log.h"

#define HISTORY_POINTS 240
#define HISTORY_STEP_S 15 /* 240 points of 15 s are an hour */
#define HISTORY_GROUPS 8
#define HISTORY_NAME   64

struct history_point {
	int64_t time_ms;
	uint32_t have; /* one bit for each known value */
	uint64_t ram_used, ram_available, swap_used, pss;
	struct {
		char name[HISTORY_NAME]; /* cut to fit; empty: unused */
		uint64_t bytes;		 /* PSS and swap */
	} group[HISTORY_GROUPS];
};

struct history_ring {
	struct history_point point[HISTORY_POINTS];
	size_t next, count;
};

/* Adds a point from a result with groups as rows. */
void history_ring_add(struct history_ring *h, const struct result *r);
/*
 * {"step_s":15,"points":[{"time_ms",…,"groups":[{"name","bytes"},…]},…],"events":[…],"files":…},
 * oldest first. `unwatched`: why there are no events, which are null then; "": they are there.
 * `files`: there is a page of files.
 */
void history_ring_json(const struct history_ring *h, const struct kill_log *kills,
		       const char *unwatched, bool files, struct strbuf *out);

#endif
