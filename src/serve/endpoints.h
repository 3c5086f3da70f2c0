/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes the page for a path and a query. It depends on no connection: struct server has all the
 * state that a request reads.
 */
#ifndef ZMEM_SERVE_ENDPOINTS_H
#define ZMEM_SERVE_ENDPOINTS_H

#include "report/report.h"
#include "serve/finder.h"
#include "serve/group_tracker.h"
#include "serve/history_ring.h"
#include "serve/selection.h"
#include "serve/serve.h"
#include "serve/snapshot_client.h"
#include "session/background.h"

struct server {
	const struct serve_config *config;
	struct snapshot_client client;
	struct group_tracker tracker;
	struct finder finder;
	struct selection groups; /* of the newest snapshot, for the metrics */
	uint64_t groups_number;	 /* number of the snapshot that `groups` is of */
	struct history_ring *history;
	struct kill_log kills;
	struct self_usage usage;
	struct metrics_self counts; /* counters of both processes */
};

struct request {
	const struct endpoint *endpoint;
	const char *query; /* "" without one */
	bool open_metrics; /* the client accepts OpenMetrics */
};

struct page {
	unsigned code;
	const char *type;
	/* Writes the Content-Security-Policy of a page of HTML. NULL: the one that forbids all. */
	void (*policy)(struct strbuf *out);
	struct strbuf body;
};

/* What is at a path. */
struct endpoint {
	const char *path;
	/* Returns 0 or a negative errno. */
	int (*make)(struct server *s, const struct request *request, struct page *p);
	const char *type;	/* of its page, before make() */
	enum document document; /* that it is made of; DOCUMENTS: none */
	bool small;		/* it is answered, too, while much is being sent */
	void (*policy)(struct strbuf *out);
};

/* By the path without the query. NULL: there is none. */
const struct endpoint *endpoint_find(const char *path);
/* Makes the page from the newest document. The caller always frees the body. */
void page_make(struct server *s, const struct request *request, struct page *ret);
/* Makes a page of one line of text. */
void page_text(struct page *p, unsigned code, const char *text);
/* Names the paths that there are. `files`: those of files, too. */
void page_not_found(struct page *p, bool files);
/* Call it for each new snapshot. `history`: also adds a point. Returns 0 or -ENOMEM. */
int server_update(struct server *s, bool history);
void server_done(struct server *s);

#endif
