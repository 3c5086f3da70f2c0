/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The fields of mappings and of sums of them: columns, sort keys and the document zmem.maps. */
#ifndef ZMEM_FIELDS_MAP_FIELDS_H
#define ZMEM_FIELDS_MAP_FIELDS_H

#include "fields/field.h"
#include "model/maps.h"

/* Rows are pointers to struct mapping. */
extern const struct fields map_fields;
/* Fields that are counters. */
extern const struct fields map_counters;
/* By enum map_rows: the columns of a table, which it is sorted by. */
extern const struct fields *const map_columns[];
/* What tells rows of any kind apart. */
extern const struct fields map_identity;
/* By enum map_rows: the row is struct maps_report. */
extern const struct fields *const map_document[];
/* What was measured: the row is struct maps_report. */
extern const struct fields maps_measured;

#endif
