/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What stands behind the '?' of a request, as what it asks for: the words of the options, with
 * their meaning. Pure: believes nothing and prints nothing; what is wrong with it is one line.
 */
#ifndef ZMEM_SERVE_HTTP_QUERY_H
#define ZMEM_SERVE_HTTP_QUERY_H

#include "query/query.h"

#define QUERY_ERROR_MAX 160
#define QUERY_IDS_MAX	256 /* pids, and as many users */

struct http_query {
	const struct column *group; /* NULL: processes */
	struct order order;
	struct filter filter; /* what it points to is the query's own */
	size_t top;	      /* 0: all */
	uint64_t min;
	/* Private. */
	char *text; /* the words, decoded */
	pid_t *pids;
	uid_t *uids;
	const char *users; /* not yet numbers */
	struct pattern *pattern;
	char error[QUERY_ERROR_MAX];
};

/*
 * Reads group_by, sort, reverse, top, min, pid, user, filter and cgroup; each at most once.
 * `cmdlines`: whether there are any to be grouped and sorted by. Returns 0, -ENOMEM, or -EINVAL and
 * q->error. http_query_done() in either case.
 */
int http_query_parse(struct http_query *q, const char *text, bool cmdlines);
/*
 * Looks up the users among those of the snapshot, and whether whoever was asked for by name or pid
 * is there at all. Returns 0, -ENOMEM, or -ENOENT and q->error.
 */
int http_query_resolve(struct http_query *q, const struct snapshot *s);
void http_query_done(struct http_query *q);

#endif
