/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rows of a result as what a time series can be of: a label and its values. */
#ifndef ZMEM_RENDER_METRICS_GROUP_H
#define ZMEM_RENDER_METRICS_GROUP_H

#include "base/strbuf.h"
#include "query/result.h"

struct metric_group {
	const char *label; /* escaped; no two have the same */
	struct totals sum;
};

struct metric_groups {
	struct metric_group *item;
	size_t count;
	struct strbuf text; /* of the labels */
};

/*
 * The first METRICS_GROUPS_MAX rows in their order, those with one label as one, and behind them
 * all others. `numeric`: users by their numbers. Returns 0 or a negative errno.
 */
int metric_groups_make(const struct result *r, bool numeric, struct metric_groups *ret);
void metric_groups_done(struct metric_groups *g);

#endif
