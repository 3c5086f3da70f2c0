/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The query of a URL: decodes the text behind the '?', bounds it, and makes a struct query of it
 * (query/query_parse.h). Pure. What is wrong is one line of text that holds nothing of the request.
 */
#ifndef ZMEM_SERVE_HTTP_QUERY_H
#define ZMEM_SERVE_HTTP_QUERY_H

#include "query/query.h"

#define QUERY_ERROR_MAX 160
#define QUERY_IDS_MAX	256 /* pids, and as many users */

struct http_query {
	struct query query;
	const char *users; /* names and numbers, for http_query_resolve(); NULL: any */
	char error[QUERY_ERROR_MAX];
	char *text; /* private: the words, decoded */
};

/*
 * Reads group_by, sort, reverse, top, min, pid, user, filter and cgroup, each at most once.
 * `cmdlines`: the snapshot has command lines to group and sort by. Returns 0, -ENOMEM, or -EINVAL
 * and q->error. http_query_done() in either case.
 */
int http_query_parse(struct http_query *q, const char *text, bool cmdlines);
/*
 * Looks up the users among those of the snapshot, and checks that a process exists that the pids or
 * users name. Returns 0, -ENOMEM, or -ENOENT and q->error.
 */
int http_query_resolve(struct http_query *q, const struct snapshot *s);
void http_query_done(struct http_query *q);

#endif
