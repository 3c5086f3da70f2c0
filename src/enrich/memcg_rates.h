/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What happens to memory cgroups in a second: the differences between two readings. */
#ifndef ZMEM_ENRICH_MEMCG_RATES_H
#define ZMEM_ENRICH_MEMCG_RATES_H

#include <stddef.h>

#include "base/arena.h"
#include "model/snapshot.h"

/* The counters of the cgroups that were read last, for ten minutes. Zeroed memory has none. */
struct memcg_rates {
	struct memcg_before *item; /* by path */
	size_t count, capacity;
	struct arena paths;
	/* Of the next reading. */
	struct memcg_before *spare;
	size_t spare_capacity;
	struct arena spare_paths;
};

/*
 * Sets the rates of the cgroups that were read before, and keeps the counters of all. They are
 * sorted by path. A cgroup that was read within the last 0.1 s gets the rates of that time. Returns
 * 0 or -ENOMEM: then nothing is kept.
 */
int memcg_rates_update(struct memcg_rates *r, struct memcg *item, size_t count);
void memcg_rates_done(struct memcg_rates *r);

#endif
