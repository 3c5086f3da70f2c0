/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The events of a recording: a list, and what held the memory at each of them. */
#ifndef ZMEM_REPORT_INCIDENTS_H
#define ZMEM_REPORT_INCIDENTS_H

#include "model/event.h"
#include "query/change.h"
#include "report/report.h"
#include "write/json_writer.h"

enum incident_key {
	INCIDENT_NAME,
	INCIDENT_UNIT,
	INCIDENT_CONTAINER,
	INCIDENT_KEYS,
};

enum incident_window {
	INCIDENT_MINUTE,
	INCIDENT_TEN_MINUTES,
	INCIDENT_HOUR,
	INCIDENT_WINDOWS,
};

extern const int64_t incident_window_ms[INCIDENT_WINDOWS];
/* What the memory of a group is here: anonymous memory in RAM, and swap. */
#define INCIDENT_COUNTERS (COUNTER_BIT(COUNTER_RSS_ANON) | COUNTER_BIT(COUNTER_SWAP))

struct incident {
	unsigned number; /* 1: the newest, as in --at event:1 */
	const struct event_record *event;
	const struct event_record *end; /* of memory that was short; NULL: no end was recorded */
	bool goes_on;		     /* without an end: it was not over when the recording ended */
	const struct snapshot *then; /* the machine then, or before; NULL: there is no frame */
	struct group_changes largest[INCIDENT_KEYS]; /* by size */
	bool grew_known[INCIDENT_WINDOWS];	     /* a snapshot is of that time */
	struct group_changes grew[INCIDENT_WINDOWS]; /* by program, largest growth first */
	/* Ten minutes before or, if the recording does not reach back, its beginning; NULL: nothing
	 * is. */
	const struct snapshot *earlier;
};

/* The cgroups that reached a limit between the two snapshots, in the order of `events`. */
struct limit_events {
	const char *cgroup;
	uint64_t oom_kills, max, high; /* 0 also where the kernel does not count it (v1: high) */
};
/* Fills up to `most` of them, most kills first. Returns how many there are. */
size_t incident_limit_events(const struct incident *i, struct limit_events *ret, size_t most);

/* The list: a heading, and a line for each event. */
void render_incident_heading(struct strbuf *out, const struct table_style *style);
void render_incident_line(struct strbuf *out, const struct incident *i,
			  const struct table_style *style);
/* The screen of one event; at most `rows` groups of each kind. */
void render_incident(struct strbuf *out, const struct incident *i, size_t rows,
		     const struct table_style *style);

/*
 * The document zmem.incidents (src/dist/documents.txt): begin, each event from the
 * oldest to the newest, end with a final newline.
 */
struct incidents_json {
	struct strbuf *out;
	bool html; /* it is a part of a page */
	size_t count;
};
void render_incidents_json_begin(struct incidents_json *j);
void render_incidents_json(struct incidents_json *j, const struct incident *i);
void render_incidents_json_end(struct incidents_json *j);

/* The keys of a kill that follow from its event alone, for an open object. */
void render_kill_json(struct json_writer *w, const struct event_record *e);

#define INCIDENT_POINT_GROUPS 12

/* A point of the page's charts, one of an array: the machine and its largest programs. */
void render_incidents_point(struct strbuf *out, bool first, const struct snapshot *s,
			    const struct group_changes *by_name);

#endif
