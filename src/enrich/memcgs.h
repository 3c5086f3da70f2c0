/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The memory cgroups of every cgroup, unit and container of a snapshot. */
#ifndef ZMEM_ENRICH_MEMCGS_H
#define ZMEM_ENRICH_MEMCGS_H

#include "proc/procfs.h"
#include "query/query.h"

/*
 * Fills in s->memcg with the memory cgroups that groups of these rows can be; sorts the rows.
 * Returns 0 or a negative errno.
 */
int memcgs_read(const struct procfs *proc, struct snapshot *s, struct rows *rows);
/* Gives groups the values of their memory cgroups. Pure. */
void memcgs_apply(const struct snapshot *s, struct rows *groups);

#endif
