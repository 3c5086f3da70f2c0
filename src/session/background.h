/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For a command that runs without an end: it yields to other processes, it is not swapped out, and
 * it says what it costs.
 */
#ifndef ZMEM_SESSION_BACKGROUND_H
#define ZMEM_SESSION_BACKGROUND_H

#include "query/delta_tracker.h"
#include "session/options.h"

/* What this process takes. It can be asked when no file can be opened any more. */
struct self_usage {
	int statm; /* -1: it could not be opened */
};

void self_usage_open(struct self_usage *own);
/* RSS in bytes, 0: not known. */
uint64_t self_usage_resident(const struct self_usage *own);
/* CPU time of all threads since the start. */
uint64_t self_usage_cpu_us(void);
void self_usage_close(struct self_usage *own);

struct background {
	struct self_usage own;
	uint64_t cpu_us;      /* CPU time when the last tick ended */
	struct own_cost cost; /* of the last tick */
};

/*
 * To be called before there is a second thread; background_done() after it. Lowers the priority
 * (--nice). Locks memory as it is touched (--no-lock) if that is allowed without a limit: beyond a
 * limit, allocations would fail. Failure of either is no error.
 */
void background_begin(struct background *g, const struct options *o);
/* A tick is done: sets `cost` to what was used since the last tick. */
void background_tick(struct background *g);
void background_done(struct background *g);

#endif
