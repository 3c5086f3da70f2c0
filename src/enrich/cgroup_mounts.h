/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which mounts show the memory controller's cgroups.
 */
#ifndef ZMEM_ENRICH_CGROUP_MOUNTS_H
#define ZMEM_ENRICH_CGROUP_MOUNTS_H

#include <stdbool.h>

#include "base/arena.h"
#include "proc/procfs.h"

#define CGROUP_MOUNTS_MAX 8

/* Where the memory controller's hierarchy is to be seen, in parts or whole. */
struct cgroup_mounts {
	struct {
		int fd; /* O_PATH */
		char *root;
	} mount[CGROUP_MOUNTS_MAX];
	size_t mounts;
	bool v2;
};

/* Roots are the arena's. Returns 0, without /proc too, or a negative errno; close in any case. */
int cgroup_mounts_open(const struct procfs *proc, struct arena *arena, struct cgroup_mounts *h);
void cgroup_mounts_close(struct cgroup_mounts *h);

#endif
