// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Knows what each page is made of; the making is choice's and render's. */
#include "serve/endpoints.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"

#define TEXT_PLAIN "text/plain; charset=utf-8"
#define TEXT_JSON  "application/json"
#define TEXT_OPEN  "application/openmetrics-text; version=1.0.0; charset=utf-8"
#define TEXT_PROM  "text/plain; version=0.0.4; charset=utf-8"

void page_text(struct page *p, unsigned code, const char *text)
{
	strbuf_clear(&p->body);
	p->code = code;
	p->type = TEXT_PLAIN;
	p->html = false;
	strbuf_puts(&p->body, text);
	strbuf_putc(&p->body, '\n');
}

int server_learn(struct server *s, bool history)
{
	int r = 0;

	if (s->grouped != s->feed.number) {
		selection_done(&s->groups);
		s->grouped = 0;
		r = selection_metrics(&s->groups, &s->feed.snapshot, s->config->group, &s->tracked,
				      s->feed.taken_us);
		if (r < 0)
			return r;
		s->grouped = s->feed.number;
	}
	if (history)
		history_ring_add(s->history, &s->groups.result);
	return r;
}

void server_done(struct server *s)
{
	selection_done(&s->groups);
	group_tracker_done(&s->tracked);
	self_usage_close(&s->own);
	snapshot_client_done(&s->feed);
	free(s->history);
}

/* ---- the pages ---- */

static void fill_own(struct server *s, struct metrics_own *own)
{
	const struct answer *last = &s->feed.last;
	struct cost cost;

	cost_read(&s->own, &cost);
	*own = s->counts;
	own->gone = last->errors[ERROR_GONE];
	own->denied = last->errors[ERROR_DENIED];
	own->timeout = last->errors[ERROR_TIMEOUT];
	own->raced = last->errors[ERROR_RACED];
	own->collections = last->collections;
	own->failures = last->failures;
	own->process[0].role = "collector";
	own->process[0].cpu_us = last->cost.cpu_us;
	own->process[0].resident = last->cost.resident;
	own->process[0].fds = last->cost.fds;
	own->process[1].role = "http";
	own->process[1].cpu_us = cost.cpu_us;
	own->process[1].resident = cost.resident;
	own->process[1].fds = cost.fds;
	own->groups_tracked = s->tracked.groups.count;
	own->groups_error = space_saving_error(&s->tracked.groups);
}

static int make_metrics(struct server *s, const struct request *request, struct page *p)
{
	struct metrics_own own;

	/* There was no memory for it when it came. */
	if (s->grouped != s->feed.number)
		return -ENOMEM;
	fill_own(s, &own);
	p->type = request->open_metrics ? TEXT_OPEN : TEXT_PROM;
	render_metrics(&p->body, &s->groups.result, s->config->numeric, request->open_metrics,
		       &own);
	return 0;
}

static int make_snapshot(struct server *s, const struct request *request, struct page *p)
{
	cleanup(http_query_done) struct http_query q = {};
	cleanup(selection_done) struct selection v = {};
	int r = http_query_parse(&q, request->query, s->config->cmdlines);

	if (r == 0)
		r = http_query_resolve(&q, &s->feed.snapshot);
	if (r == -EINVAL || r == -ENOENT) {
		page_text(p, r == -EINVAL ? 400 : 404, q.error);
		return 0;
	}
	if (r == 0)
		r = selection_query(&v, &s->feed.snapshot, &q.query);
	if (r == -E2BIG) {
		page_text(p, 400, "filter: " PATTERN_EXPENSIVE);
		return 0;
	}
	if (r < 0)
		return r;
	p->type = TEXT_JSON;
	render_json(&p->body, &v.result);
	return 0;
}

/* The page's own groups: what metrics have is no column of it. */
static int make_html(struct server *s, bool data_alone, struct page *p)
{
	cleanup(http_query_done) struct http_query q = {};
	cleanup(selection_done) struct selection v = {};
	struct column_list columns;
	struct table_style style = {.columns = &columns, .numeric = s->config->numeric};
	int r = http_query_parse(&q, "", false);

	column_list_default(&columns, NULL);
	if (s->config->cmdlines) {
		const char *bad;
		size_t len;

		column_list_parse(&columns, "+cmdline", &bad, &len);
	}
	style.group = s->config->group;
	if (r == 0)
		r = selection_query(&v, &s->feed.snapshot, &q.query);
	if (r < 0)
		return r;
	if (data_alone) {
		p->type = TEXT_JSON;
		render_page_json(&p->body, &v.result, &style);
	} else {
		p->type = "text/html; charset=utf-8";
		p->html = true;
		render_live_page(&p->body, &v.result, &style);
	}
	return 0;
}

static int make_live(struct server *s, const struct request *request, struct page *p)
{
	(void)request;
	return make_html(s, false, p);
}

static int make_page_json(struct server *s, const struct request *request, struct page *p)
{
	(void)request;
	return make_html(s, true, p);
}

static int make_history(struct server *s, const struct request *request, struct page *p)
{
	(void)request;
	p->type = TEXT_JSON;
	history_ring_json(s->history, &p->body);
	return 0;
}

static int make_health(struct server *s, const struct request *request, struct page *p)
{
	const struct snapshot_client *f = &s->feed;
	uint64_t now = clock_us(CLOCK_MONOTONIC), age = now - f->taken_us;
	bool stuck = feed_is_late(f, now, now);

	(void)request;
	p->type = TEXT_PLAIN;
	if (f->failing || stuck || !f->number) {
		page_text(p, 503,
			  f->failing ? "collecting fails"
			  : stuck    ? "collecting is stuck"
				     : "no snapshot yet");
		return 0;
	}
	strbuf_printf(&p->body, "ok, last snapshot %" PRIu64 ".%03u s ago\n", age / 1000000,
		      (unsigned)(age / 1000 % 1000));
	return 0;
}

static const struct {
	const char *path;
	int (*make)(struct server *s, const struct request *request, struct page *p);
	bool needs_snapshot;
} pages[] = {
	{"/", make_live, true},
	{"/metrics", make_metrics, true},
	{"/snapshot.json", make_snapshot, true},
	{"/page.json", make_page_json, true},
	{"/history.json", make_history, false},
	{"/healthz", make_health, false},
};

bool page_exists(const char *path, bool *ret_needs_snapshot)
{
	for (size_t i = 0; i < ARRAY_SIZE(pages); i++) {
		if (strcmp(pages[i].path, path) == 0) {
			*ret_needs_snapshot = pages[i].needs_snapshot;
			return true;
		}
	}
	return false;
}

void page_make(struct server *s, const struct request *request, struct page *ret)
{
	int r = -ENOENT;

	ret->code = 200;
	for (size_t i = 0; i < ARRAY_SIZE(pages); i++) {
		if (strcmp(pages[i].path, request->path) == 0)
			r = pages[i].make(s, request, ret);
	}
	if (r == 0)
		r = strbuf_error(&ret->body);
	if (r == -ENOENT)
		page_text(ret, 404, "not found");
	else if (r < 0)
		page_text(ret, 503, "out of memory");
}
