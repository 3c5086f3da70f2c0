/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rows of all memory cgroups. Pure. */
#ifndef ZMEM_QUERY_MEMCG_ROWS_H
#define ZMEM_QUERY_MEMCG_ROWS_H

#include "model/process_list.h"
#include "query/sums.h"

/*
 * Groups the processes by cgroup, as group_rows() does; then makes a row for each cgroup of the
 * snapshot that has no process and that the glob of filter_matches_cgroup() chooses (NULL: any),
 * and for each that was deleted and still holds memory, if a census found some. Returns 0 or
 * -ENOMEM.
 */
int memcg_rows(const struct snapshot *s, const char *glob, struct process_list *processes,
	       struct sums *groups);

#endif
