// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Refuses bad requests and suspends those that need a newer snapshot. endpoints.c makes the bodies
 * of the responses.
 */
#include "serve/requests.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/parse.h"
#include "serve/peer.h"
#include "serve/request_headers.h"

#define URI_MAX	   2048
#define POOL_MAX   (16 * 1024)	      /* of a connection: its request with all headers */
#define UNSENT_MAX (64 * 1024 * 1024) /* responses that clients do not read */

struct pending {
	struct MHD_Connection *connection;
	struct pending *next; /* in the list of waiting requests */
	uint64_t since_us;
	const struct endpoint *endpoint; /* NULL: not known yet, or refused */
	enum document document;		 /* DOCUMENTS: none */
	bool begun, turned, ready, late;
	unsigned refused; /* the HTTP status of the refusal; 0: accepted */
	const char *why;  /* NULL: nothing is at the path */
	char *query;	  /* points into `path`, past its terminating 0 */
	bool too_long;
	char path[];
};

static struct slot *slot_of(struct requests *c, struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		c->mhd.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	return info ? connections_find(&c->connections, info->connect_fd) : NULL;
}

static void set_state(struct requests *c, struct MHD_Connection *connection, enum slot_state state)
{
	struct slot *slot = slot_of(c, connection);

	if (slot)
		slot_set(slot, state, clock_us(CLOCK_MONOTONIC));
}

/* libmicrohttpd calls it first for each request and passes the result on as *con_cls. */
static void *begin_request(void *cls, const char *uri, struct MHD_Connection *connection)
{
	bool too_long = strlen(uri) > URI_MAX;
	size_t len = too_long ? 0 : strlen(uri);
	struct pending *req = malloc(sizeof(*req) + len + 1);

	(void)cls;
	if (!req)
		return NULL;
	*req = (struct pending){.connection = connection, .too_long = too_long};
	memcpy(req->path, uri, len);
	req->path[len] = '\0';
	req->query = strchrnul(req->path, '?');
	if (*req->query)
		*req->query++ = '\0';
	return req;
}

static void remove_waiting(struct requests *c, const struct pending *req)
{
	for (struct pending **at = &c->waiting; *at; at = &(*at)->next) {
		if (*at == req) {
			*at = req->next;
			return;
		}
	}
}

/*
 * libmicrohttpd waits for an edge of epoll that it has used up if the client had closed its sending
 * half with the request: shutdown() makes another, and the connection is closed.
 */
static void wake_half_closed(int fd)
{
	struct pollfd peer = {.fd = fd, .events = POLLRDHUP};

	if (poll(&peer, 1, 0) == 1 && peer.revents & POLLRDHUP)
		shutdown(fd, SHUT_RD);
}

static void request_completed(void *cls, struct MHD_Connection *connection, void **con_cls,
			      enum MHD_RequestTerminationCode code)
{
	struct requests *c = cls;
	const struct slot *slot = slot_of(c, connection);

	(void)code;
	if (slot)
		wake_half_closed(slot->fd);
	if (*con_cls)
		remove_waiting(c, *con_cls);
	free(*con_cls);
	*con_cls = NULL;
	set_state(c, connection, SLOT_IDLE);
}

static void connection_changed(void *cls, struct MHD_Connection *connection, void **socket_context,
			       enum MHD_ConnectionNotificationCode code)
{
	struct slot *slot = slot_of(cls, connection);

	(void)socket_context;
	if (slot && code == MHD_CONNECTION_NOTIFY_CLOSED)
		slot_set(slot, SLOT_FREE, 0);
}

/* ---- responses ---- */

/* The body of a response. Its size is part of *unsent until the body is sent. */
struct sent {
	size_t *unsent;
	size_t size;
	char *data;
};

static void body_sent(void *cls)
{
	struct sent *sent = cls;

	*sent->unsent -= sent->size;
	free(sent->data);
	free(sent);
}

/* The response takes over the body of the page. */
static struct MHD_Response *make_response(struct requests *c, struct page *p)
{
	struct sent *sent = malloc(sizeof(*sent));
	struct MHD_Response *r;

	if (!sent)
		return NULL;
	*sent = (struct sent){&c->unsent, p->body.len, p->body.data};
	r = c->mhd.create_response_from_buffer_with_free_callback_cls(p->body.len, p->body.data,
								      body_sent, sent);
	if (!r) {
		free(sent);
		return NULL;
	}
	c->unsent += p->body.len;
	p->body = (struct strbuf){0};
	return r;
}

static bool add_headers(const struct microhttpd *mhd, struct MHD_Response *r, const struct page *p)
{
	cleanup(strbuf_done) struct strbuf policy = {0};
	bool ok = mhd->add_response_header(r, "Content-Type", p->type) == MHD_YES;

	if (p->policy)
		p->policy(&policy);
	else
		strbuf_puts(&policy, "default-src 'none'");
	strbuf_puts(&policy, "; frame-ancestors 'none'");
	ok &= !strbuf_error(&policy) && mhd->add_response_header(r, "Content-Security-Policy",
								 strbuf_str(&policy)) == MHD_YES;
	ok &= mhd->add_response_header(r, "Cache-Control", "no-store") == MHD_YES;
	ok &= mhd->add_response_header(r, "X-Content-Type-Options", "nosniff") == MHD_YES;
	ok &= mhd->add_response_header(r, "Referrer-Policy", "no-referrer") == MHD_YES;
	if (p->code == 405)
		ok &= mhd->add_response_header(r, "Allow", "GET, HEAD") == MHD_YES;
	if (p->code == 401)
		ok &= mhd->add_response_header(r, "WWW-Authenticate", "Bearer") == MHD_YES;
	return ok;
}

static void count_response(struct requests *c, unsigned code)
{
	struct metrics_self *self = &c->server.counts;

	for (size_t i = 0; i < ARRAY_SIZE(self->responses); i++) {
		if (self->responses[i].code == 0)
			self->responses[i].code = code;
		if (self->responses[i].code != code)
			continue;
		self->responses[i].count++;
		return;
	}
}

static enum MHD_Result send_page(struct requests *c, struct MHD_Connection *connection,
				 struct page *p)
{
	struct MHD_Response *response = make_response(c, p);
	enum MHD_Result r = MHD_NO;

	if (response && add_headers(&c->mhd, response, p))
		r = c->mhd.queue_response(connection, p->code, response);
	if (response)
		c->mhd.destroy_response(response);
	strbuf_done(&p->body);
	if (r == MHD_YES)
		count_response(c, p->code);
	set_state(c, connection, SLOT_ANSWER);
	return r;
}

static enum MHD_Result send_text(struct requests *c, struct MHD_Connection *connection,
				 unsigned code, const char *text)
{
	struct page p = {};

	page_text(&p, code, text);
	return send_page(c, connection, &p);
}

static const char *header(const struct requests *c, struct MHD_Connection *connection,
			  const char *name)
{
	return c->mhd.lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static enum MHD_Result refuse(struct requests *c, const struct pending *req)
{
	struct page p = {};

	if (req->why)
		page_text(&p, req->refused, req->why);
	else
		page_not_found(&p, c->server.config->options->files);
	return send_page(c, req->connection, &p);
}

static enum MHD_Result answer(struct requests *c, struct pending *req)
{
	const char *accept = header(c, req->connection, "Accept");
	struct request request = {
		.endpoint = req->endpoint,
		.query = req->query,
		.open_metrics = accept_open_metrics(accept),
	};
	struct page p;

	/* Clients that do not read large pages must not keep others from the metrics. */
	if (c->unsent > UNSENT_MAX + (req->endpoint->small ? UNSENT_MAX / 4 : 0))
		return send_text(c, req->connection, 503,
				 "too many responses are being sent (try again later)");
	c->server.counts.connections = connections_used(&c->connections);
	page_make(&c->server, &request, &p);
	return send_page(c, req->connection, &p);
}

/* ---- requests ---- */

static enum MHD_Result count_host(void *cls, enum MHD_ValueKind kind, const char *key,
				  const char *value)
{
	unsigned *hosts = cls;

	(void)kind, (void)value;
	*hosts += parse_same_word("host", key, strlen(key));
	return MHD_YES;
}

/* RFC 9112, 3.2: HTTP/1.1 needs one Host header, HTTP/1.0 none or one. */
static bool has_one_host(struct requests *c, struct MHD_Connection *connection, const char *version)
{
	unsigned hosts = 0;

	c->mhd.get_connection_values(connection, MHD_HEADER_KIND, count_host, &hosts);
	return hosts == 1 || (hosts == 0 && strcmp(version, "HTTP/1.0") == 0);
}

/*
 * If the names of the address are known, on loopback and where --listen has a name, Host must be
 * one of them. On loopback, pages of other sites are refused, too.
 */
static unsigned check_site(struct requests *c, struct MHD_Connection *connection,
			   const struct slot *slot, const char **ret_why)
{
	const char *host = header(c, connection, "Host");

	*ret_why = "the Host header names another machine (use the name in --listen, localhost or "
		   "an IP address)";
	if ((slot->loopback || slot->name) && !host_is_own(host, slot->name))
		return 421;
	*ret_why = "a page of another site sent this request (open this address directly)";
	return slot->loopback && host_is_foreign(host, header(c, connection, "Origin"),
						 header(c, connection, "Sec-Fetch-Site"))
		       ? 403
		       : 0;
}

/* Returns 0, or the HTTP status and the reason of a refusal. */
static unsigned check_request(struct requests *c, struct pending *req, const char *method,
			      const char *version, const char **ret_why)
{
	const struct slot *slot = slot_of(c, req->connection);
	const char *length = header(c, req->connection, "Content-Length");
	unsigned code;

	*ret_why = "only GET and HEAD are allowed";
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		return 405;
	*ret_why = "a request must not have a body";
	if ((length && strcmp(length, "0") != 0) || header(c, req->connection, "Transfer-Encoding"))
		return 413;
	*ret_why = "the URL is too long";
	if (req->too_long)
		return 414;
	*ret_why = "a request must have exactly one Host header";
	if (!has_one_host(c, req->connection, version))
		return 400;
	code = slot ? check_site(c, req->connection, slot, ret_why) : 0;
	if (code)
		return code;
	*ret_why = "the token is missing or wrong";
	if (!token_fits(&c->server.config->token, header(c, req->connection, "Authorization")))
		return 401;
	*ret_why = NULL;
	req->endpoint = endpoint_find(req->path);
	if (!req->endpoint)
		return 404;
	req->document = req->endpoint->document;
	*ret_why = "files are not served, because their names are private (serve --files)";
	return req->document == DOCUMENT_FILES && !c->server.config->options->files ? 404 : 0;
}

static void ask_for_document(struct requests *c, const struct pending *req, uint64_t now)
{
	int r = snapshot_client_ask(&c->server.client, req->document, now,
				    c->server.config->age_ms);

	if (r < 0)
		c->error = r;
}

static enum MHD_Result wait_for_document(struct requests *c, struct pending *req, uint64_t now)
{
	req->since_us = now;
	ask_for_document(c, req, now);
	req->next = c->waiting;
	c->waiting = req;
	set_state(c, req->connection, SLOT_WAIT);
	c->mhd.suspend_connection(req->connection);
	return MHD_YES;
}

static const char *why_none(const struct snapshot_client *client, const struct pending *req)
{
	const struct answer *last = &client->last;

	if (req->late)
		return "no answer in time: the collector process is busy or stuck";
	return last->document == req->document && *last->failed ? last->failed
								: "collecting failed";
}

static enum MHD_Result handle_request(void *cls, struct MHD_Connection *connection, const char *url,
				      const char *method, const char *version, const char *upload,
				      size_t *upload_size, void **con_cls)
{
	struct requests *c = cls;
	struct pending *req = *con_cls;
	const struct snapshot_client *client = &c->server.client;
	const struct asked *a;
	uint64_t now = clock_us(CLOCK_MONOTONIC);

	(void)url, (void)upload;
	if (!req)
		return MHD_NO;
	if (!req->begun) {
		req->begun = true;
		req->refused = check_request(c, req, method, version, &req->why);
		/* libmicrohttpd closes the connection if the response precedes the end of the
		 * request. */
		return req->refused == 405 || req->refused == 413 ? refuse(c, req) : MHD_YES;
	}
	if (*upload_size) {
		*upload_size = 0;
		return MHD_YES;
	}
	if (req->refused)
		return refuse(c, req);
	a = &client->asked[DOCUMENT_SNAPSHOT];
	/* Until the first snapshot, pages without a document wait for it. */
	if (req->document == DOCUMENTS && !a->number && !a->failing)
		req->document = DOCUMENT_SNAPSHOT;
	if (req->document == DOCUMENTS ||
	    (!req->late &&
	     snapshot_client_is_fresh(client, req->document, now, c->server.config->age_ms)))
		return answer(c, req);
	a = &client->asked[req->document];
	/* The document is overdue: do not wait for it again. */
	req->late |= snapshot_client_is_late(client, req->document, now, now);
	/*
	 * libmicrohttpd reads from a connection first that was suspended in the turn of its first
	 * bytes, and closes it if its client has closed the sending half. A request without a
	 * response waits for the next turn, in which nothing is read.
	 */
	if (!req->turned) {
		req->turned = true;
		return MHD_YES;
	}
	if (!req->ready && !req->late)
		return wait_for_document(c, req, now);
	if (req->late || a->failing || !a->number)
		return send_text(c, connection, 503, why_none(client, req));
	return answer(c, req);
}

/* ---- waiting requests ---- */

/* Files may be older than was asked for: reading them often would cost too much. */
static bool satisfies(const struct snapshot_client *client, const struct pending *req,
		      uint32_t age_ms)
{
	const struct asked *a = &client->asked[req->document];

	return a->failing ||
	       (a->number && (req->document == DOCUMENT_FILES ||
			      a->taken_us + (uint64_t)age_ms * 1000 >= req->since_us));
}

void requests_resume(struct requests *c)
{
	struct snapshot_client *client = &c->server.client;
	uint64_t now = clock_us(CLOCK_MONOTONIC);
	uint32_t age_ms = c->server.config->age_ms;

	for (struct pending **at = &c->waiting; *at;) {
		struct pending *req = *at;

		req->late = snapshot_client_is_late(client, req->document, now, req->since_us);
		req->ready = req->late || (!client->asked[req->document].pending &&
					   satisfies(client, req, age_ms));
		if (!req->ready) {
			at = &req->next;
			continue;
		}
		*at = req->next;
		set_state(c, req->connection, SLOT_ANSWER);
		c->mhd.resume_connection(req->connection);
	}
	/* The document was too old for these requests: ask for another. */
	for (const struct pending *req = c->waiting; req; req = req->next)
		ask_for_document(c, req, now);
}

/* ---- connections ---- */

static void disconnect(struct slot *slot)
{
	shutdown(slot->fd, SHUT_RDWR);
	slot_set(slot, SLOT_LEAVING, 0);
}

bool requests_make_room(struct requests *c)
{
	struct slot *victim;

	if (!connections_full(&c->connections))
		return true;
	victim = connections_victim(&c->connections);
	if (victim)
		disconnect(victim);
	c->mhd.run(c->daemon);
	return !connections_full(&c->connections);
}

void requests_add(struct requests *c, int fd, const char *name)
{
	struct sockaddr_storage address = {};
	uint64_t source, now = clock_us(CLOCK_MONOTONIC);
	bool loopback = peer_read(c->diag, fd, &source);
	struct slot *slot = connections_add(&c->connections, fd, source, now);

	if (!slot) {
		close(fd);
		return;
	}
	slot->loopback = loopback;
	slot->name = name;
	address.ss_family = AF_UNIX;
	if (c->mhd.add_connection(c->daemon, fd, (struct sockaddr *)&address,
				  sizeof(sa_family_t)) != MHD_YES)
		slot_set(slot, SLOT_FREE, 0);
}

void requests_sweep(struct requests *c)
{
	uint64_t now = clock_us(CLOCK_MONOTONIC);
	struct slot *slot;

	while ((slot = connections_overdue(&c->connections, now)))
		disconnect(slot);
}

int requests_start(struct requests *c)
{
	c->daemon = c->mhd.start_daemon(
		MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL,
		handle_request, c, MHD_OPTION_URI_LOG_CALLBACK, begin_request, c,
		MHD_OPTION_NOTIFY_COMPLETED, request_completed, c, MHD_OPTION_NOTIFY_CONNECTION,
		connection_changed, c, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX + 2,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)POOL_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
		90u, MHD_OPTION_END);
	return c->daemon ? 0 : -ENOMEM;
}

void requests_stop(struct requests *c)
{
	while (c->waiting) {
		struct pending *req = c->waiting;

		c->waiting = req->next;
		c->mhd.resume_connection(req->connection);
	}
	if (c->daemon)
		c->mhd.stop_daemon(c->daemon);
	if (c->diag >= 0)
		close(c->diag);
}
