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
 * The limit of memory and swap together (cgroup v1) and what is charged of it. False: it has none
 * of its own, if the cgroup above it is given, or none at all.
 */
bool memcg_memsw(const struct memcg *m, const struct memcg *above, uint64_t *ret_limit,
		 uint64_t *ret_charged);
/* Whether its limit is its own, and not that of one above it. */
bool memcg_has_own_limit(const struct memcg *item, size_t count, const struct memcg *m);
/*
 * The limit that the cgroup reaches first if it alone grows: of its limit and those of the cgroups
 * above it, the one with the least left; in cgroup v1 also a limit of memory and swap. The kernel
 * drops page cache that was not used lately before it kills, so the working set counts where it is
 * known; all that is charged, if the cgroup is at its limit and reads back what was taken from it.
 * False: there is no limit.
 */
bool memcg_nearest(const struct memcg *item, size_t count, const struct memcg *m,
		   uint32_t page_size, struct memcg_limit *ret);

/*
 * Whether it is near its limit of memory, or of memory and swap, or memory.high, or those above it:
 * an eighth is enough, since page cache makes room for what is charged next.
 */
bool memcg_is_near(const struct memcg *m);
/* Whether the path is that of the cgroup, or of one below it. */
bool cgroup_holds(const char *cgroup, const char *path);
/*
 * What people call a cgroup: "container", "pod" or "unit", by a process in it, and its name; or
 * "cgroup" and the path. Borrowed.
 */
const char *cgroup_owner(const struct snapshot *s, const char *path, const char **ret_name);

/* Adds what was read of the cgroup, as counters. */
void memcg_charges(const struct memcg *m, struct charges *to);

/* What hurts a cgroup now. */
enum memcg_strain {
	STRAIN_UNKNOWN,
	STRAIN_NONE,
	STRAIN_WAITS,	  /* its tasks wait for memory */
	STRAIN_THRASHES,  /* it reads back what the kernel took a moment ago */
	STRAIN_THROTTLED, /* the kernel slows its tasks, because it is above memory.high */
};

/*
 * By the counters of the cgroup: the time that its tasks waited, where it has PSI, and what was
 * read back in a second. *ret_degree: how much, in hundredths of a percent of the time, or of its
 * memory if that is more.
 */
enum memcg_strain memcg_strain(const struct charges *c, uint32_t page_size, uint32_t *ret_degree);
/* "none", "waits", "thrashes", "throttled", or NULL: not known. */
const char *memcg_strain_name(enum memcg_strain strain);

#endif
