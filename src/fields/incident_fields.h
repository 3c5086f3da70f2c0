/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The fields of events of a recording, in JSON. */
#ifndef ZMEM_FIELDS_INCIDENT_FIELDS_H
#define ZMEM_FIELDS_INCIDENT_FIELDS_H

#include "fields/field.h"
#include "model/snapshot.h"

/* Rows are struct event_record, of a struct incident. */
extern const struct fields incident_kill_fields, incident_pressure_fields,
	incident_unrecorded_fields, incident_signal_fields, incident_no_victim_fields;
/* Fields that kills and short memory both have. */
extern const struct fields incident_fields;
/* Fields of a kill that follow from its event alone. */
extern const struct fields kill_fields;
/* The row is struct snapshot, of the struct group_changes of its programs: a point of a chart. */
extern const struct fields incident_point_fields;

/* incident_machine.c: of struct snapshot, the machine at the event and at the worst moment. */
extern const struct fields incident_system_fields, incident_worst_fields;
/* Of struct incident: where the machine's RAM was. */
extern const struct fields incident_where_fields;
struct value value_meminfo(const struct snapshot *s, enum meminfo_counter c);
struct value value_swap_used(const struct snapshot *s);

#endif
