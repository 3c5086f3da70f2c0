/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From a path and a query to an answer. Knows no connection: what a request may want to know is in
 * struct server.
 */
#ifndef ZMEM_SERVE_ENDPOINTS_H
#define ZMEM_SERVE_ENDPOINTS_H

#include "cli/self_usage.h"
#include "serve/selection.h"
#include "serve/snapshot_client.h"
#include "serve/history_ring.h"
#include "serve/serve.h"
#include "serve/group_tracker.h"
#include "render/render.h"

struct server {
	const struct serve_config *config;
	struct snapshot_client feed;
	struct group_tracker tracked;
	struct selection groups; /* of the newest snapshot, as metrics have them */
	uint64_t grouped;	 /* its number */
	struct history_ring *history;
	struct self_usage own;
	struct metrics_own counts; /* what is counted here, and what it was told */
};

struct request {
	const char *path;  /* without the query */
	const char *query; /* "" without one */
	bool open_metrics; /* the client understands it */
};

struct page {
	unsigned code;
	const char *type;
	bool html; /* with the live page's policy; else it may do nothing at all */
	struct strbuf body;
};

/* Whether there is such a page, and whether it takes a snapshot to make it. */
bool page_exists(const char *path, bool *ret_needs_snapshot);
/* Makes it; with the newest snapshot there is. The body is the caller's in any case. */
void page_make(struct server *s, const struct request *request, struct page *ret);
/* One line. */
void page_text(struct page *p, unsigned code, const char *text);
/* With each new snapshot; `history`: it is to be a point of it. Returns 0 or -ENOMEM. */
int server_learn(struct server *s, bool history);
void server_done(struct server *s);

#endif
