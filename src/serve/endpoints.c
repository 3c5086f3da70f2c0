// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Makes the body of each page from a selection and a renderer. */
#include "serve/endpoints.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "collect/unseen.h"
#include "query/pattern.h"

#define TEXT_PLAIN "text/plain; charset=utf-8"
#define TEXT_JSON  "application/json"
#define TEXT_HTML  "text/html; charset=utf-8"
#define TEXT_OPEN  "application/openmetrics-text; version=1.0.0; charset=utf-8"
#define TEXT_PROM  "text/plain; version=0.0.4; charset=utf-8"

void page_text(struct page *p, unsigned code, const char *text)
{
	strbuf_clear(&p->body);
	p->code = code;
	p->type = TEXT_PLAIN;
	p->policy = NULL;
	strbuf_puts(&p->body, text);
	strbuf_putc(&p->body, '\n');
}

int server_update(struct server *s, bool history)
{
	uint64_t number = s->client.asked[DOCUMENT_SNAPSHOT].number;
	int r = 0;

	if (s->groups_number != number) {
		selection_done(&s->groups);
		s->groups_number = 0;
		finder_update(&s->finder, &s->client.snapshot);
		r = selection_metrics(&s->groups, &s->client.snapshot, s->config->group,
				      &s->tracker, s->client.asked[DOCUMENT_SNAPSHOT].taken_us);
		if (r < 0)
			return r;
		s->groups.result.found = &s->finder.found;
		s->groups_number = number;
	}
	if (history)
		history_ring_add(s->history, &s->groups.result);
	return r;
}

void server_done(struct server *s)
{
	selection_done(&s->groups);
	finder_done(&s->finder);
	group_tracker_done(&s->tracker);
	kill_log_done(&s->kills);
	self_usage_close(&s->usage);
	snapshot_client_done(&s->client);
	free(s->history);
}

/* ---- the pages ---- */

static void fill_metrics_self(struct server *s, struct metrics_self *self)
{
	*self = s->counts;
	self->collected = s->client.last.collected;
	self->process[0].role = "collector";
	self->process[0].cost = s->client.last.cost;
	self->process[1].role = "http";
	cost_read(&s->usage, &self->process[1].cost);
	self->groups_tracked = s->tracker.groups.count;
	self->groups_error = space_saving_error(&s->tracker.groups);
}

static int make_metrics(struct server *s, const struct request *request, struct page *p)
{
	struct metrics_self self;
	struct result kills;

	/* There was no memory for the groups of this snapshot. */
	if (s->groups_number != s->client.asked[DOCUMENT_SNAPSHOT].number)
		return -ENOMEM;
	fill_metrics_self(s, &self);
	kill_log_result(&s->kills, &s->groups.result, &kills);
	if (!*s->client.last.kills_unwatched)
		self.kills = &kills;
	if (request->open_metrics)
		p->type = TEXT_OPEN;
	render_metrics(&p->body, &s->groups.result, s->config->options->numeric,
		       request->open_metrics, &self);
	return 0;
}

/* If the first pid is that of a thread, the message names its process. */
static void explain_thread(const struct server *s, struct http_query *q)
{
	pid_t pid = q->query.filter.pids[0], process;

	process = s->config->options->replay ? 0
					     : collect_process_of_thread(&s->client.snapshot, pid);
	if (process)
		snprintf(q->error, sizeof(q->error), "pid: " COLLECT_THREAD_TEXT, pid, process);
}

static int make_snapshot(struct server *s, const struct request *request, struct page *p)
{
	cleanup(http_query_done) struct http_query q = {};
	cleanup(selection_done) struct selection v = {};
	const unsigned stored = options_columns_need(s->config->options);
	int r = http_query_parse(&q, request->query, stored & NEEDS_CMDLINE);

	if (r == 0)
		r = http_query_resolve(&q, &s->client.snapshot);
	if (r == -ESRCH)
		explain_thread(s, &q);
	if (r == -EINVAL || r == -ENOENT || r == -ESRCH) {
		page_text(p, r == -EINVAL ? 400 : 404, q.error);
		return 0;
	}
	if (r == 0)
		r = selection_query(&v, &s->client.snapshot, &q.query);
	if (r == -E2BIG) {
		page_text(p, 400, "filter: " PATTERN_EXPENSIVE);
		return 0;
	}
	if (r < 0)
		return r;
	v.result.found = &s->finder.found;
	render_json(&p->body, &v.result);
	return 0;
}

/*
 * The page, or its data alone. Rows are processes. The page makes groups of them, by a column;
 * "unit, then name" is not one.
 */
static int make_html(struct server *s, const struct request *request, struct page *p)
{
	cleanup(http_query_done) struct http_query q = {};
	cleanup(selection_done) struct selection v = {};
	const unsigned stored = options_columns_need(s->config->options);
	struct field_list columns;
	struct table_style style = {.columns = &columns, .numeric = s->config->options->numeric};
	int r = http_query_parse(&q, "", false);

	process_list_columns(&columns, &columns_usual, NULL);
	if (stored & NEEDS_KERNEL)
		field_list_insert(&columns, columns.count, process_field("kernel"));
	if (stored & NEEDS_CMDLINE)
		field_list_insert(&columns, columns.count, process_field("cmdline"));
	style.group = s->config->group;
	style.recorded = s->config->options->replay;
	if (r == 0)
		r = selection_query(&v, &s->client.snapshot, &q.query);
	if (r < 0)
		return r;
	v.result.found = &s->finder.found;
	if (request->endpoint->policy)
		render_live_page(&p->body, &v.result, &style);
	else
		render_page_json(&p->body, &v.result, &style);
	return 0;
}

static int make_files_json(struct server *s, const struct request *request, struct page *p)
{
	(void)request;
	strbuf_put(&p->body, s->client.files.data, s->client.files.len);
	return 0;
}

static int make_files(struct server *s, const struct request *request, struct page *p)
{
	(void)request;
	render_live_files_page(&p->body, s->config->host, &s->client.files);
	return 0;
}

static int make_history(struct server *s, const struct request *request, struct page *p)
{
	(void)request;
	history_ring_json(s->history, &s->kills, s->client.last.kills_unwatched,
			  s->config->options->files, &p->body);
	return 0;
}

static int make_health(struct server *s, const struct request *request, struct page *p)
{
	const struct asked *a = &s->client.asked[DOCUMENT_SNAPSHOT];
	uint64_t now = clock_us(CLOCK_MONOTONIC), age = now - a->taken_us;
	bool stuck = snapshot_client_is_late(&s->client, DOCUMENT_SNAPSHOT, now, now);

	(void)request;
	if (a->failing || stuck || !a->number) {
		page_text(p, 503,
			  a->failing ? "collecting fails"
			  : stuck    ? "collecting is stuck"
				     : "no snapshot yet");
		return 0;
	}
	strbuf_printf(&p->body, "ok, last snapshot %" PRIu64 ".%03u s ago\n", age / 1000000,
		      (unsigned)(age / 1000 % 1000));
	return 0;
}

static const struct endpoint endpoints[] = {
	{"/", make_html, TEXT_HTML, DOCUMENT_SNAPSHOT, .policy = render_live_policy},
	{"/metrics", make_metrics, TEXT_PROM, DOCUMENT_SNAPSHOT, .small = true},
	{"/snapshot.json", make_snapshot, TEXT_JSON, DOCUMENT_SNAPSHOT},
	{"/page.json", make_html, TEXT_JSON, DOCUMENT_SNAPSHOT},
	{"/files", make_files, TEXT_HTML, DOCUMENT_FILES, .policy = render_live_files_policy},
	{"/files.json", make_files_json, TEXT_JSON, DOCUMENT_FILES},
	{"/history.json", make_history, TEXT_JSON, DOCUMENTS},
	{"/healthz", make_health, TEXT_PLAIN, DOCUMENTS, .small = true},
};

const struct endpoint *endpoint_find(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(endpoints); i++) {
		if (strcmp(path, endpoints[i].path) == 0)
			return &endpoints[i];
	}
	return NULL;
}

void page_not_found(struct page *p, bool files)
{
	cleanup(strbuf_done) struct strbuf text = {0};

	strbuf_puts(&text, "not found; there are");
	for (size_t i = 0; i < ARRAY_SIZE(endpoints); i++) {
		if (files || endpoints[i].document != DOCUMENT_FILES)
			strbuf_printf(&text, " %s", endpoints[i].path);
	}
	page_text(p, 404, strbuf_str(&text));
}

void page_make(struct server *s, const struct request *request, struct page *ret)
{
	const struct endpoint *e = request->endpoint;
	int r;

	*ret = (struct page){.code = 200, .type = e->type, .policy = e->policy};
	r = e->make(s, request, ret);
	if (r < 0 || strbuf_error(&ret->body))
		page_text(ret, 503, "out of memory");
}
