/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory cgroups of a snapshot: finding one, and the limit that it reaches first. Pure. */
#ifndef ZMEM_MODEL_MEMCG_H
#define ZMEM_MODEL_MEMCG_H

#include "base/parse.h"
#include "model/snapshot.h"

/* Finds a path among cgroups that are sorted by path. NULL: it is not there. */
const struct memcg *memcg_find(const struct memcg *item, size_t count, struct text_part path);

struct memcg_limit {
	uint64_t limit, left; /* bytes */
	unsigned up;	      /* levels from the cgroup up to the one with the limit */
};

/*
 * The limit that the cgroup reaches first if it alone grows: of its limit and those of the cgroups
 * above it, the one with the least left. The kernel drops page cache that was not used lately
 * before it kills, so the working set counts where it is known. False: there is no limit.
 */
bool memcg_nearest(const struct memcg *item, size_t count, const struct memcg *m,
		   struct memcg_limit *ret);

#endif
