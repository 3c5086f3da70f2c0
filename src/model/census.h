/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The frames of RAM by what they are (zmem/census.h), counted or estimated. */
#ifndef ZMEM_MODEL_CENSUS_H
#define ZMEM_MODEL_CENSUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zmem/census.h"

struct census_frames {
	uint64_t kind[ZMEM_FRAMES];
	uint64_t block[ZMEM_CENSUS_ORDERS]; /* of ZMEM_FRAME_KERNEL */
	uint64_t type[ZMEM_CENSUS_TYPES];
	uint64_t charged; /* to memory cgroups, for the kernel */
};

/* The frames of one node, with those of holes. */
struct census_node {
	uint32_t node;
	struct census_frames frames;
};

/* What is charged to a memory cgroup. */
struct census_cgroup {
	const char *path; /* from the root of the hierarchy; NULL: not known */
	bool deleted;	  /* its directory was removed */
	uint64_t bytes[ZMEM_CHARGES];
};

static inline uint64_t census_cgroup_bytes(const struct census_cgroup *c)
{
	uint64_t sum = 0;

	for (int i = 0; i < ZMEM_CHARGES; i++)
		sum += c->bytes[i];
	return sum;
}

struct census {
	bool sampled;
	bool old_types;	      /* `type` counts (until 6.11) */
	bool zsmalloc_marked; /* zsmalloc has a type of its own */
	bool kmalloc_marked;  /* likewise large allocations by kmalloc() */
	bool percpu_marked;
	struct census_frames all;
	struct census_frames error; /* of a sample: half of the interval of 95 % */
	uint64_t duration_us;
};

#endif
