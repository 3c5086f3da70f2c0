/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The mounts of the cgroup hierarchy with the memory controller. */
#ifndef ZMEM_ENRICH_CGROUP_MOUNTS_H
#define ZMEM_ENRICH_CGROUP_MOUNTS_H

#include "base/arena.h"
#include "proc/procfs.h"

#define CGROUP_MOUNTS_MAX 8

/* The mounts that show the hierarchy, or parts of it. Zeroed memory has none. */
struct cgroup_mounts {
	struct {
		int fd; /* O_PATH */
		char *root;
	} mount[CGROUP_MOUNTS_MAX];
	size_t mounts;
	bool v2;
};

/*
 * Reads self/mountinfo. Roots belong to the arena. Returns 0, also without /proc, or a negative
 * errno without files or memory; close it in any case.
 */
int cgroup_mounts_open(const struct procfs *proc, struct arena *arena, struct cgroup_mounts *h);
void cgroup_mounts_close(struct cgroup_mounts *h);

#endif
