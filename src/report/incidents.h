/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The events of a recording: a list, and what held the memory at each of them. */
#ifndef ZMEM_REPORT_INCIDENTS_H
#define ZMEM_REPORT_INCIDENTS_H

#include "model/incident.h"
#include "report/report.h"

/* Widths of two columns of the list. */
struct incident_columns {
	unsigned when;	 /* of the longest time */
	unsigned cgroup; /* 0: it has no room */
};

struct incident_columns incident_columns(unsigned when, const struct table_style *style);
/* The list: a heading, and a line for each event. */
void render_incident_heading(struct strbuf *out, const struct incident_columns *columns,
			     const struct table_style *style);
void render_incident_line(struct strbuf *out, const struct incident *i,
			  const struct incident_columns *columns, const struct table_style *style);
/* The screen of one event; at most `rows` groups of each kind. */
void render_incident(struct strbuf *out, const struct incident *i, size_t rows,
		     const struct table_style *style);
/* Commands that show more of it. `dir`: the recording. `usual`: it is the one that is meant
 * without a name. */
void render_incident_next(struct strbuf *out, const struct incident *i, const char *dir,
			  bool usual);

struct incidents_text {
	struct table_style style;
	struct incident_columns columns;
	size_t rows;
	const char *dir;
	bool usual;
};

/*
 * The document zmem.incidents (src/dist/documents.txt): begin, each event from the
 * oldest to the newest, end with a final newline.
 */
struct incidents_json {
	struct strbuf *out;
	/* Of a page, which has the lines of the text, and of its list, as they are: */
	const struct incidents_text *text; /* NULL: it is no page */
	const char *group_by;		   /* NULL: groups are programs */
	size_t count;
};
void render_incidents_json_begin(struct incidents_json *j);
void render_incidents_json(struct incidents_json *j, const struct incident *i);
void render_incidents_json_end(struct incidents_json *j);

/* A point of the page's charts, one of an array: the machine and its largest programs. */
void render_incidents_point(struct strbuf *out, bool first, const struct snapshot *s,
			    const struct group_changes *by_name);

#endif
