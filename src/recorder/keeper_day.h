/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What record --keep says once a day: how much it wrote, and what was lost. Pure. */
#ifndef ZMEM_RECORDER_KEEPER_DAY_H
#define ZMEM_RECORDER_KEEPER_DAY_H

#include <stdbool.h>
#include <stdint.h>

#define KEEPER_DAY_US	(UINT64_C(24) * 60 * 60 * 1000000)
#define KEEPER_DAY_TEXT 256

/* Since the recorder began. */
struct keeper_sums {
	uint64_t snapshots, bytes; /* that were written */
	uint64_t dropped;	   /* snapshots that could not be written */
	uint64_t failed;	   /* and those that could not be taken */
	uint64_t kills, signals;   /* that another event only counts */
};

struct keeper_day {
	bool began;
	uint64_t begun_us; /* CLOCK_MONOTONIC */
	struct keeper_sums before;
};

/*
 * The first call begins a day. True if it is over: then *ret has what came in it, such as "8640
 * snapshots, 41.2 MB written, nothing lost", and the next one begins.
 */
bool keeper_day_ends(struct keeper_day *d, uint64_t now_us, const struct keeper_sums *now,
		     char ret[KEEPER_DAY_TEXT]);

#endif
