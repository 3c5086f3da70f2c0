/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a recording tells of OOM kills, signals and times of short memory: the events themselves
 * (incidents.c), which kills belong together (bursts.c), what the snapshots around an event hold
 * (incident_snapshots.c, of a kill without one of its own kill_table.c, of a shortage shortage.c),
 * and its documents (incidents_documents.c). Functions that return int return 0, or an exit code
 * after a message, unless they say otherwise.
 */
#ifndef ZMEM_INCIDENTS_INCIDENTS_H
#define ZMEM_INCIDENTS_INCIDENTS_H

#include "model/incident.h"
#include "session/moment.h"
#include "session/output.h"
#include "session/replay.h"

/* Cgroups of which tasks waited, by path. */
struct stall_list {
	struct arena arena;
	struct incident_stall *item;
	size_t count, room;
};

/* Signals to one workload follow each other so soon. */
#define INCIDENT_SIGNALS_MS 2000

struct incidents_text;

struct incidents {
	const struct options *options;
	struct replay replay;
	struct output out;
	struct event_record event, end;
	struct snapshot during, before[INCIDENT_WINDOWS]; /* their texts are borrowed */
	struct snapshot just_before;			  /* a kill */
	bool just_before_read;
	struct findings findings; /* of it, or of the event */
	struct incident incident;
	char workload[EVENT_WORKLOAD];
	size_t frame;		   /* of incident.during */
	struct ended_sum ended;	   /* has the texts of incident.ended */
	struct arena names;	   /* of incident.file */
	struct arena joined;	   /* texts of groups by several columns */
	const struct field *group; /* of --group-by; NULL: programs */
	struct moment range;
	int64_t now_ms;
	struct burst *burst;	  /* of each event: bursts.c */
	struct stall_list stalls; /* of a shortage */
	size_t *frames;	   /* of each event that was read, its frame and 1; NULL: not wanted */
	int64_t *until_ms; /* of each event, as far as they are known: when it was over; else 0 */
	size_t chosen;	   /* the event of --at */
};

/* ---- events ---- */

/*
 * Reads event i, from 0, into `event` and `incident`. Returns 1, 0 if it is of another kind or
 * corrupt, which is said once, or -1 after a message.
 */
int incidents_read_event(struct incidents *s, size_t i);
/* Whether the event, which may last, is partly in the range of --since and --until. */
bool incidents_in_range(struct incidents *s, size_t i);
/* Whether the event, which was read, is a kill or a signal that another event stands for. */
static inline bool incidents_is_told(const struct incidents *s)
{
	const uint64_t kind = event_number(&s->event, EVENT_KIND);

	return (kind == EVENT_OOM_KILL || kind == EVENT_SIGNAL) && !s->incident.burst.kills;
}
/* When the event was over, as far as that was recorded. */
int64_t incidents_until(struct incidents *s, size_t i);
/* Finds the bursts of the kills in the range. Returns 0 or -ENOMEM. */
int incidents_find_bursts(struct incidents *s);
/*
 * What a victim belongs to, in words that stay when it is started again: "pod shop/web-0", a pod
 * without a name by its uid, "container web", "unit web.service", else the path of its cgroup; in
 * *buf if it is made there. NULL: nothing is known. workload.c
 */
const char *event_workload(const struct event_record *e, char buf[EVENT_WORKLOAD]);
void incidents_close(struct incidents *s);

/* ---- the snapshots around an event ---- */

/* Reads all that is shown of event i, which was read. */
int incidents_read(struct incidents *s, size_t i);
/* Reads a copy of a frame. Returns 0, 1 if it is lost (said once), or -1 after a message. */
int incidents_read_frame(struct incidents *s, size_t frame, struct snapshot *ret);
/*
 * Makes the snapshot of a kill that of its moment, as far as that was read: kill_table.c. Returns 0
 * or -ENOMEM.
 */
int incidents_read_table(struct incidents *s, size_t event);
/*
 * Of a shortage: finds the frame of its worst moment, behind that of its beginning, and the cgroups
 * of which tasks waited; and names these, once the snapshot of that moment is read. shortage.c.
 * Returns 0 or -ENOMEM.
 */
int incidents_find_worst(struct incidents *s, size_t event, size_t *frame);
void incidents_choose_stalls(struct incidents *s);
void incidents_clear_stalls(struct incidents *s);
/* Prints why a frame or an event could not be read. Returns the exit code. */
int incidents_failed(const struct incidents *s, int r, const char *why);
void incidents_clear_groups(struct incidents *s);

/* ---- documents ---- */

/* The columns of the longest time in the list, and how many groups of each kind are shown. */
unsigned incidents_widest_time(struct incidents *s);
size_t incidents_rows(const struct incidents *s);
/*
 * Writes the array of the events that are `wanted`. `text`: for a page, which has no event that
 * another one stands for; NULL: for JSON.
 */
int incidents_write_json(struct incidents *s, const struct incidents_text *text,
			 bool (*wanted)(struct incidents *s, size_t i));
int incidents_write_page(struct incidents *s);

#endif
