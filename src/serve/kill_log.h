/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The OOM kills since the start: how many of each group, and the newest ones for the page. A group
 * that is shown has a count from 0 on, so that its first kill is an increase. Pure.
 */
#ifndef ZMEM_SERVE_KILL_LOG_H
#define ZMEM_SERVE_KILL_LOG_H

#include "model/event.h"
#include "query/result.h"
#include "write/json_writer.h"

#define KILL_LOG_NEWEST 64

/* A group that has lost a process. */
struct kill_group {
	struct process process; /* its names */
	char *text;		/* holds them */
	uint32_t kills;
	size_t last; /* the number of its last kill among all of them */
	bool shown;  /* private to place_rows() */
};

struct kill_log {
	const struct field *key; /* that makes the groups */
	struct kill_group *group;
	size_t groups, groups_max;
	struct row *row;	     /* of a result */
	uint64_t others;	     /* kills of forgotten groups, and of unknown victims */
	struct event_record *newest; /* a ring of KILL_LOG_NEWEST */
	size_t kills;		     /* that were added to it */
};

/*
 * Counts by this column. A result that is passed below has at most `shown_max` rows. Returns 0 or
 * -ENOMEM; kill_log_done() in either case.
 */
int kill_log_init(struct kill_log *l, const struct field *key, size_t shown_max);
void kill_log_done(struct kill_log *l);
/*
 * Twice `shown_max` groups are remembered. Then a new one takes the place of the one that has lost
 * no process for the longest time and is not shown: its kills are now among the others. Without
 * memory for the names of a new group, its kill is one of the others, too.
 */
void kill_log_add(struct kill_log *l, const struct event_record *kill, const struct result *shown);
/*
 * The groups as rows, with their kills as processes: those shown, and all others that lost a
 * process. The result borrows from the log and from `shown`.
 */
void kill_log_result(struct kill_log *l, const struct result *shown, struct result *ret);
/* The newest kills as an array, oldest first. */
void kill_log_json(const struct kill_log *l, struct json_writer *w);

#endif
