/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a request selects: decodes the text behind the '?' of its URL, bounds it, makes a struct
 * query of it (query/query_parse.h), and runs it on the snapshot that the collector sent. Pure. An
 * error is one line of text that holds nothing of the request.
 */
#ifndef ZMEM_SERVE_SELECTION_H
#define ZMEM_SERVE_SELECTION_H

#include "query/query.h"
#include "query/result.h"
#include "serve/group_tracker.h"

#define QUERY_ERROR_MAX 160
#define QUERY_IDS_MAX	256 /* pids, and as many users */

struct http_query {
	struct query query;
	const char *users; /* names and numbers, for http_query_resolve(); NULL: any */
	char error[QUERY_ERROR_MAX];
	char *text; /* private: the words, decoded */
};

/*
 * Reads group_by, sort, reverse, top, min, pid, user, filter, cgroup and unit, each at most once.
 * `cmdlines`: the snapshot has command lines to group and sort by. Returns 0, -ENOMEM, or -EINVAL
 * and q->error. http_query_done() in either case.
 */
int http_query_parse(struct http_query *q, const char *text, bool cmdlines);
/*
 * Looks up the users among those of the snapshot, and checks that a process exists that the pids or
 * users name. Returns 0, -ENOMEM, or q->error and -ENOENT (users) or -ESRCH (pids).
 */
int http_query_resolve(struct http_query *q, const struct snapshot *s);
void http_query_done(struct http_query *q);

/* The column that makes the groups of metrics. NULL: the unit, and the name of processes without
 * one.
 */
const struct field *selection_group(const struct field *key);

/* A snapshot serves any number of selections, one after the other. */
struct selection {
	struct snapshot snapshot; /* borrows all but its arenas */
	struct query_rows rows;
	struct result result;
};

/*
 * Makes the rows of the query. Returns 0, -ENOMEM, or -E2BIG where its pattern has spent its
 * budget. selection_done() in either case.
 */
int selection_query(struct selection *v, struct snapshot *snapshot, const struct query *q);
/*
 * Groups for metrics: those of `tracker`, which gets them, are rows, all others are summed.
 * `group`: as of selection_group(). To be called once for a snapshot,
 * which was taken at `now_us`.
 */
int selection_metrics(struct selection *v, struct snapshot *snapshot, const struct field *group,
		      struct group_tracker *tracker, uint64_t now_us);
void selection_done(struct selection *v);

#endif
