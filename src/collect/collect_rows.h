/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The steps of a query (query/result.h), and names. Each returns 0 or a negative errno. */
#ifndef ZMEM_COLLECT_COLLECT_ROWS_H
#define ZMEM_COLLECT_COLLECT_ROWS_H

#include "collect/collector_state.h"

/* Filters the rows of the snapshot. */
int collect_choose_rows(struct collector *c, const struct query *q);
/* Groups, orders, cuts and names the chosen rows. */
int collect_shape_rows(struct collector *c, const struct query *q, struct result *ret);
/*
 * Reads what `needs` (enum process_needs) names of rows of a snapshot of this machine.
 * `containers_us`: names of containers are waited for so long, 0: they are not read. Without memory
 * for workers names stay unknown.
 */
int collect_names(struct collector *c, struct snapshot *s, unsigned needs, uint64_t containers_us,
		  struct process_list *processes);
/* Names the programs of the processes that overview_holders() finds, shown or not. */
int collect_name_largest(struct collector *c);
/* Names rows of a result (lazy_names). */
int collector_name_rows(struct collector *c, const struct query *q, const struct row *rows,
			size_t count);
/*
 * Gives groups, or processes with their cgroup, the values of their memory cgroups: the details
 * only if they are in `needs`, or recorded.
 */
int collector_charge(struct collector *c, struct process_list *processes, unsigned needs);
/*
 * Adds the memory cgroups of all groups that the chosen rows can form to the snapshot, in a
 * recording or for several queries. Those near a limit have all counters in any case.
 */
int collector_read_memcgs(struct collector *c, enum memcgs_asked asked);
/*
 * What findings need beyond a snapshot: the limits of all memory cgroups, all of those that are
 * near one; and in a single snapshot, where a cgroup is at its limit or tasks wait, what happens
 * there in 0.2 s. Not for a recording.
 */
int collector_look_closer(struct collector *c);

#endif
