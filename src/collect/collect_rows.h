/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From the snapshot of a collector to the rows of a query. */
#ifndef ZMEM_COLLECT_COLLECT_ROWS_H
#define ZMEM_COLLECT_COLLECT_ROWS_H

#include "collect/collector.h"

/* Filters. Returns 0, or a negative errno as collector_collect() does. */
int collect_choose_rows(struct collector *c, const struct query *q);
/* Groups, orders, cuts and names the chosen rows. Returns likewise. */
int collect_shape_rows(struct collector *c, const struct query *q, struct result *ret);

#endif
