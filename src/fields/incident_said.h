/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is said of an event of a recording. */
#ifndef ZMEM_FIELDS_INCIDENT_SAID_H
#define ZMEM_FIELDS_INCIDENT_SAID_H

#include "fields/sentence.h"
#include "model/event.h"

/*
 * Rows are struct event_record, of a struct incident. First the heading of each kind of event; then
 * what is known of the event; then of the machine at that time.
 */
extern const struct sentences kill_heading, pressure_heading, signal_heading, unrecorded_heading,
	unrecorded_said, no_victim_heading;
/* In a list: a shortage; signals; the kills that a line stands for. */
extern const struct sentences pressure_line, signal_line, unrecorded_line, no_victim_line,
	no_victim_said, kill_stands_for;
extern const struct sentences kill_limit_said, kill_victim_said, signal_said, pressure_signs_said;
extern const struct sentences incident_machine_said;
/* What a table of an event lists. */
struct incident_table {
	bool cut;	  /* not all processes were read */
	const char *path; /* or name of the cgroup that reached its limit; NULL: the machine */
	bool all;	  /* that time is all that was recorded */
	const char *by;	  /* the columns of its groups; NULL: programs */
	int64_t over_ms;
	int64_t before_ms; /* it is so much older than the event; 0: it is of its moment */
	bool less;	   /* without those that were killed since */
};
extern const struct sentences incident_limited_said, incident_largest_said, incident_inside_said,
	incident_unread_said, incident_grew_said;

/* A limit beside the one that was reached. */
struct level_said {
	const char *path;
	const struct event_level *level;
};
extern const struct sentences kill_level_said;

#endif
