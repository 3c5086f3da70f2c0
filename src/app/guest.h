/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a command that stays owes to the machine: to give way, not to be swapped out, to say what it
 * costs. */
#ifndef ZMEM_APP_GUEST_H
#define ZMEM_APP_GUEST_H

#include "app/options.h"
#include "app/own.h"
#include "zmem/change.h"

struct guest {
	struct own own;
	uint64_t cpu_us;      /* when the last tick ended */
	struct own_cost cost; /* of the last tick */
};

/*
 * To be called before there is a second thread. Gives way (--nice), and locks its memory as it is
 * touched (--no-lock) where that is allowed without a bound, since what goes beyond a bound would
 * get no memory at all. Neither is an error. guest_done() after it.
 */
void guest_begin(struct guest *g, const struct options *o);
/* A tick is done: measures what it took since the last one. */
void guest_tick(struct guest *g);
void guest_done(struct guest *g);

#endif
