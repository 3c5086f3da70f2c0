/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a result has beside its rows. */
#ifndef ZMEM_FIELDS_RESULT_FIELDS_H
#define ZMEM_FIELDS_RESULT_FIELDS_H

#include "fields/field.h"
#include "fields/row.h"
#include "fields/sentence.h"

/* "collection", struct collection: how complete the snapshot is. */
extern const struct fields collection_fields;
/* Beside the counters of sums, struct totals. */
extern const struct fields totals_fields;
/* "watch", struct result: since an earlier snapshot; first what stands before the changes. */
extern const struct fields watch_fields, watch_cost_fields;
/* Behind the time of a snapshot that has an earlier one. */
extern const struct sentences tick_said;

#endif
