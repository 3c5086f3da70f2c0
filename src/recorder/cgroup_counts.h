/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the kernel had counted of each memory cgroup at a moment, kept for a later one. */
#ifndef ZMEM_RECORDER_CGROUP_COUNTS_H
#define ZMEM_RECORDER_CGROUP_COUNTS_H

#include "base/arena.h"
#include "model/snapshot.h"

struct cgroup_count {
	const char *path;
	uint64_t times;
};

/* Zeros are none. `arena` owns all. */
struct cgroup_counts {
	struct arena arena;
	struct cgroup_count *item; /* by path, as the cgroups of a snapshot */
	size_t count;
};

/* A count of a cgroup. False: the kernel does not tell it. */
typedef bool cgroup_count_of(const struct memcg *m, uint64_t *ret);

/* How often its processes were killed. */
cgroup_count_of cgroup_kills;
/* How often it reached its limits. */
cgroup_count_of cgroup_limit_hits;

/* Without memory there are none. */
void cgroup_counts_take(struct cgroup_counts *counts, const struct snapshot *s,
			cgroup_count_of *of);
/* What it was then; 0: the cgroup was not there. *at, 0 at first, goes on with the paths. */
uint64_t cgroup_counts_before(const struct cgroup_counts *counts, size_t *at, const char *path);

#endif
