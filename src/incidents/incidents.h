/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a recording tells of OOM kills, signals and times of short memory: the events themselves
 * (incidents.c), what the snapshots around an event hold (incident_snapshots.c), and its documents
 * (incidents_documents.c). Functions that return int return 0, or an exit code after a message,
 * unless they say otherwise.
 */
#ifndef ZMEM_INCIDENTS_INCIDENTS_H
#define ZMEM_INCIDENTS_INCIDENTS_H

#include "model/incident.h"
#include "session/moment.h"
#include "session/output.h"
#include "session/replay.h"

struct incidents {
	const struct options *options;
	struct replay replay;
	struct output out;
	struct event_record event, end;
	struct snapshot during, before[INCIDENT_WINDOWS]; /* their texts are borrowed */
	struct snapshot just_before;			  /* a kill */
	struct findings findings;			  /* of it, or of the event */
	struct incident incident;
	size_t frame;		   /* of incident.during */
	struct arena names;	   /* of incident.file */
	struct arena joined;	   /* texts of groups by several columns */
	const struct field *group; /* of --group-by; NULL: programs */
	struct moment range;
	size_t chosen; /* the event of --at */
};

/* ---- events ---- */

/*
 * Reads event i, from 0, into `event` and `incident`. Returns 1, 0 if it is of another kind or
 * corrupt, which is said once, or -1 after a message.
 */
int incidents_read_event(struct incidents *s, size_t i);
/* Whether the event is in the range of --since and --until. */
bool incidents_in_range(const struct incidents *s, size_t i);
/*
 * Finds the first kill of the group of a kill, and sets how many it has. Of an event that is no
 * kill it is the event itself. Reads the event.
 */
size_t incidents_find_group(struct incidents *s, size_t event);
/*
 * Reads the event of a line: of kills of one call, or of a burst, the first one; of equal kills the
 * newest. Returns as incidents_read_event().
 */
int incidents_read_line(struct incidents *s, size_t *event);
void incidents_close(struct incidents *s);

/* ---- the snapshots around an event ---- */

/* Reads all that is shown of event i, which was read. */
int incidents_read(struct incidents *s, size_t i);
/* Reads a copy of a frame. Returns 0, 1 if it is lost (said once), or -1 after a message. */
int incidents_read_frame(struct incidents *s, size_t frame, struct snapshot *ret);
/* Prints why a frame or an event could not be read. Returns the exit code. */
int incidents_failed(const struct incidents *s, int r, const char *why);
void incidents_clear_groups(struct incidents *s);

/* ---- documents ---- */

/* Writes the array of the events that are `wanted`. `html`: for a page. */
int incidents_write_json(struct incidents *s, bool html,
			 bool (*wanted)(const struct incidents *s, size_t i));
int incidents_write_page(struct incidents *s);

#endif
