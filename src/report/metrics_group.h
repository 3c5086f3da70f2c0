/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rows of a result as time series: a label and its values each. */
#ifndef ZMEM_REPORT_METRICS_GROUP_H
#define ZMEM_REPORT_METRICS_GROUP_H

#include <stdbool.h>

#include "base/strbuf.h"
#include "query/result.h"

struct metric_key {
	const char *name, *value; /* escaped */
};

struct metric_group {
	const char *label; /* escaped; unique */
	/* Further labels, where the group alone decides them; NULL: none. */
	const char *namespace, *pod, *container;
	struct metric_key key[GROUP_KEYS_MAX]; /* of a group by several; NULL: it is not */
	struct totals sum;
	struct charges charged; /* of the cgroup of a group that is one row */
};

static inline bool metric_group_has(const struct metric_group *g, enum counter c)
{
	return (int)c < COUNTERS_OF_PROCESS ? g->sum.have & COUNTER_BIT(c)
					    : charges_have(&g->charged, c);
}

/* Valid if the group has it. */
static inline uint64_t metric_group_value(const struct metric_group *g, enum counter c)
{
	return (int)c < COUNTERS_OF_PROCESS ? g->sum.value[c] : charge_value(&g->charged, c);
}

struct metric_groups {
	struct metric_group *item;
	size_t count;
	struct strbuf text; /* holds the labels */
};

/*
 * The first `max` rows in their order, rows of one label merged, and one group for all
 * other rows. `numeric`: users by uid. Returns 0 or a negative errno.
 */
int metric_groups_make(const struct result *r, size_t max, bool numeric, struct metric_groups *ret);
void metric_groups_done(struct metric_groups *g);

#endif
