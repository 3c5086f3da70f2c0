/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The OOM kills since the start: how many of each group, and the newest ones for the page. A group
 * that has a series keeps it, because a counter must not decrease. Pure.
 */
#ifndef ZMEM_SERVE_KILL_LOG_H
#define ZMEM_SERVE_KILL_LOG_H

#include "model/event.h"
#include "query/result.h"
#include "write/json_writer.h"

#define KILL_LOG_NEWEST 64

struct kill_log {
	const struct field *group;
	size_t groups_max;
	struct process *sum; /* of each group */
	struct row *row;     /* likewise; procs: its kills */
	size_t groups;
	struct arena names; /* of the groups */
	uint64_t others;    /* kills of further groups, and of victims that are not known */
	struct event_record *newest; /* a ring of KILL_LOG_NEWEST */
	size_t kills;		     /* that were added to it */
};

/* Counts by this column. Returns 0 or -ENOMEM; kill_log_done() in either case. */
int kill_log_init(struct kill_log *l, const struct field *group, size_t groups_max);
void kill_log_done(struct kill_log *l);
/* Without memory for the names of a new group, its kill is one of the others. */
void kill_log_add(struct kill_log *l, const struct event_record *kill);
/* The groups as rows, with their kills as processes. The result borrows from the log. */
void kill_log_result(const struct kill_log *l, struct result *ret);
/* The newest kills as an array, oldest first. */
void kill_log_json(const struct kill_log *l, struct json_writer *w);

#endif
