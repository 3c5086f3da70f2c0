/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a command that stays owes to the machine: to give way, not to be swapped out, to say what it
 * costs. */
#ifndef ZMEM_CLI_BACKGROUND_H
#define ZMEM_CLI_BACKGROUND_H

#include "cli/options.h"
#include "cli/self_usage.h"
#include "query/delta.h"

struct background {
	struct self_usage own;
	uint64_t cpu_us;      /* when the last tick ended */
	struct own_cost cost; /* of the last tick */
};

/*
 * To be called before there is a second thread. Gives way (--nice), and locks its memory as it is
 * touched (--no-lock) where that is allowed without a bound, since what goes beyond a bound would
 * get no memory at all. Neither is an error. background_done() after it.
 */
void background_begin(struct background *g, const struct options *o);
/* A tick is done: measures what it took since the last one. */
void background_tick(struct background *g);
void background_done(struct background *g);

#endif
