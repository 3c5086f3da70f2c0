/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Processes that ended before a snapshot: keys of JSON, and what is said of them. */
#ifndef ZMEM_FIELDS_ENDED_FIELDS_H
#define ZMEM_FIELDS_ENDED_FIELDS_H

#include "fields/sentence.h"
#include "model/ended.h"

/*
 * Rows are struct ended_processes, as in JSON. One without a time (over_ms 0) is of a recording
 * that has none: all its values are unknown.
 */
extern const struct fields ended_fields;
extern const struct ended_processes ended_unknown;
/* A line; the headings of tables: of an event, and between two snapshots; below a table. */
extern const struct sentences ended_line, ended_before_said, ended_between_said, ended_missed_said;

#endif
