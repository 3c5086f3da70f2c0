/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the memory cgroups of every cgroup, unit and container that a request can ask for. */
#ifndef ZMEM_SERVE_MEMCGS_H
#define ZMEM_SERVE_MEMCGS_H

#include "proc/procfs.h"
#include "query/query.h"

/*
 * Fills in s->memcg with the memory cgroups of all groups that these rows can form. Reorders the
 * rows. Returns 0 or a negative errno.
 */
int memcgs_read(const struct procfs *proc, struct snapshot *s, struct rows *rows);
/* Copies the values of the memory cgroups into their groups. Pure. */
void memcgs_apply(const struct snapshot *s, struct rows *groups);

#endif
