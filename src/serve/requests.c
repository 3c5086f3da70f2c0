// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Knows which requests are none of ours, and when one has to wait. What an answer is made of is
 * the business of pages.c.
 */
#include "serve/requests.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/parse.h"
#include "serve/accept.h"
#include "serve/host.h"
#include "serve/response.h"

#define URI_MAX	   2048
#define POOL_MAX   (16 * 1024)	      /* of a connection: its request with all headers */
#define UNSENT_MAX (64 * 1024 * 1024) /* answers that nobody takes */

struct call {
	struct MHD_Connection *connection;
	struct call *next; /* who waits, too */
	uint64_t since_us;
	bool begun, ready, late;
	unsigned refused; /* the code, 0: it is not */
	const char *why;
	char *query; /* in `path`, behind its end */
	bool too_long;
	char path[];
};

static struct slot *slot_of(struct requests *c, struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		c->mhd.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	return info ? connections_find(&c->slots, info->connect_fd) : NULL;
}

static void set_state(struct requests *c, struct MHD_Connection *connection, enum slot_state state)
{
	struct slot *slot = slot_of(c, connection);

	if (slot)
		slot_set(slot, state, clock_us(CLOCK_MONOTONIC));
}

/* The first that is known of a request. What is returned comes back as *con_cls. */
static void *begin(void *cls, const char *uri, struct MHD_Connection *connection)
{
	size_t len = strlen(uri);
	struct call *call = malloc(sizeof(*call) + (len > URI_MAX ? 0 : len) + 1);

	(void)cls;
	if (!call)
		return NULL;
	*call = (struct call){.connection = connection, .too_long = len > URI_MAX};
	memcpy(call->path, uri, call->too_long ? 0 : len);
	call->path[call->too_long ? 0 : len] = '\0';
	call->query = strchr(call->path, '?');
	if (call->query)
		*call->query++ = '\0';
	else
		call->query = call->path + strlen(call->path);
	return call;
}

static void unlist(struct requests *c, const struct call *call)
{
	for (struct call **at = &c->waiting; *at; at = &(*at)->next) {
		if (*at == call) {
			*at = call->next;
			return;
		}
	}
}

static void completed(void *cls, struct MHD_Connection *connection, void **con_cls,
		      enum MHD_RequestTerminationCode code)
{
	struct requests *c = cls;

	(void)code;
	if (*con_cls)
		unlist(c, *con_cls);
	free(*con_cls);
	*con_cls = NULL;
	set_state(c, connection, SLOT_IDLE);
}

static void connected(void *cls, struct MHD_Connection *connection, void **socket_context,
		      enum MHD_ConnectionNotificationCode code)
{
	struct slot *slot = slot_of(cls, connection);

	(void)socket_context;
	if (slot && code == MHD_CONNECTION_NOTIFY_CLOSED)
		slot_set(slot, SLOT_FREE, 0);
}

/* ---- answers ---- */

static void count(struct requests *c, unsigned code)
{
	struct metrics_own *own = &c->server.counts;

	for (size_t i = 0; i < ARRAY_SIZE(own->answered); i++) {
		if (own->answered[i].code == 0)
			own->answered[i].code = code;
		if (own->answered[i].code != code)
			continue;
		own->answered[i].count++;
		return;
	}
}

static enum MHD_Result send_page(struct requests *c, struct MHD_Connection *connection,
				 struct page *p)
{
	struct MHD_Response *response = response_make(&c->mhd, p, &c->unsent);
	enum MHD_Result r = MHD_NO;

	if (response)
		r = c->mhd.queue_response(connection, p->code, response);
	if (response)
		c->mhd.destroy_response(response);
	strbuf_done(&p->body);
	if (r == MHD_YES)
		count(c, p->code);
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

static enum MHD_Result make(struct requests *c, struct call *call)
{
	const char *accept = header(c, call->connection, "Accept");
	struct request request = {
		.path = call->path,
		.query = call->query,
		.open_metrics = accept_open_metrics(accept),
	};
	struct page p = {};

	if (c->unsent > UNSENT_MAX)
		return send_text(c, call->connection, 503, "too many answers are on their way");
	c->server.counts.connections = connections_used(&c->slots);
	page_make(&c->server, &request, &p);
	return send_page(c, call->connection, &p);
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

/* RFC 9112, 3.2: one, and before HTTP/1.1 one or none. */
static bool has_one_host(struct requests *c, struct MHD_Connection *connection, const char *version)
{
	unsigned hosts = 0;

	c->mhd.get_connection_values(connection, MHD_HEADER_KIND, count_host, &hosts);
	return hosts == 1 || (hosts == 0 && strcmp(version, "HTTP/1.0") == 0);
}

/* Only this machine has a loopback address: a page of another site has no business there. */
static unsigned check_local(struct requests *c, struct MHD_Connection *connection,
			    const char **ret_why)
{
	const char *host = header(c, connection, "Host");

	*ret_why = "this address is not of that host (listening on loopback)";
	if (!host_is_local(host))
		return 421;
	*ret_why = "a page of another site asked (open this address itself)";
	return host_is_foreign(host, header(c, connection, "Origin"),
			       header(c, connection, "Sec-Fetch-Site"))
		       ? 403
		       : 0;
}

/* 0, or the code and the reason of a refusal. */
static unsigned check(struct requests *c, const struct call *call, const char *method,
		      const char *version, const char **ret_why)
{
	const struct slot *slot = slot_of(c, call->connection);
	const char *length = header(c, call->connection, "Content-Length");
	unsigned code;
	bool needs;

	*ret_why = "GET and HEAD only";
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		return 405;
	*ret_why = "a request has no body";
	if ((length && strcmp(length, "0") != 0) ||
	    header(c, call->connection, "Transfer-Encoding"))
		return 413;
	*ret_why = "too long";
	if (call->too_long)
		return 414;
	*ret_why = "a request has one Host header";
	if (!has_one_host(c, call->connection, version))
		return 400;
	code = slot && slot->loopback ? check_local(c, call->connection, ret_why) : 0;
	if (code)
		return code;
	*ret_why = "the token is missing or wrong";
	if (!token_fits(&c->server.config->token, header(c, call->connection, "Authorization")))
		return 401;
	*ret_why = "not found";
	return page_exists(call->path, &needs) ? 0 : 404;
}

static enum MHD_Result wait_for_snapshot(struct requests *c, struct call *call, uint64_t now)
{
	int r;

	call->since_us = now;
	r = snapshot_client_ask(&c->server.feed, call->since_us, c->server.config->age_ms);
	if (r < 0 && r != -EAGAIN)
		c->error = r;
	call->next = c->waiting;
	c->waiting = call;
	set_state(c, call->connection, SLOT_WAIT);
	c->mhd.suspend_connection(call->connection);
	return MHD_YES;
}

static enum MHD_Result handle(void *cls, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_size, void **con_cls)
{
	struct requests *c = cls;
	struct call *call = *con_cls;
	const struct snapshot_client *f = &c->server.feed;
	uint64_t now = clock_us(CLOCK_MONOTONIC);
	bool needs = false;

	(void)url, (void)upload;
	if (!call)
		return MHD_NO;
	if (!call->begun) {
		call->begun = true;
		call->refused = check(c, call, method, version, &call->why);
		/* An answer before the request has ended ends the connection, too. */
		return call->refused == 405 || call->refused == 413
			       ? send_text(c, connection, call->refused, call->why)
			       : MHD_YES;
	}
	if (*upload_size) {
		*upload_size = 0;
		return MHD_YES;
	}
	if (call->refused)
		return send_text(c, connection, call->refused, call->why);
	page_exists(call->path, &needs);
	/* At the start there is nothing to be said of anything. */
	needs |= !f->number && !f->failing;
	if (!needs || (!call->late && snapshot_client_is_fresh(f, now, c->server.config->age_ms)))
		return make(c, call);
	/* Others have waited for the same answer in vain. */
	call->late |= feed_is_late(f, now, now);
	if (!call->ready && !call->late)
		return wait_for_snapshot(c, call, now);
	if (call->late || f->failing || !f->number)
		return send_text(c, connection, 503,
				 call->late ? "no snapshot in time: the process that collects does "
					      "not answer"
					    : "collecting failed");
	return make(c, call);
}

/* ---- all of them ---- */

static bool is_good_for(const struct snapshot_client *f, const struct call *call, uint32_t age_ms)
{
	return f->failing || (f->number && f->taken_us + (uint64_t)age_ms * 1000 >= call->since_us);
}

void requests_resume(struct requests *c)
{
	struct snapshot_client *f = &c->server.feed;
	uint64_t now = clock_us(CLOCK_MONOTONIC);
	uint32_t age_ms = c->server.config->age_ms;

	for (struct call **at = &c->waiting; *at;) {
		struct call *call = *at;

		call->late = feed_is_late(f, now, call->since_us);
		call->ready = call->late || (!f->asked && is_good_for(f, call, age_ms));
		if (!call->ready) {
			at = &call->next;
			continue;
		}
		*at = call->next;
		set_state(c, call->connection, SLOT_ANSWER);
		c->mhd.resume_connection(call->connection);
	}
	/* One that was older was on its way when they came. */
	if (c->waiting && !f->asked) {
		int r = snapshot_client_ask(f, now, age_ms);

		if (r < 0 && r != -EAGAIN)
			c->error = r;
	}
}

static void send_away(struct slot *slot)
{
	shutdown(slot->fd, SHUT_RDWR);
	slot_set(slot, SLOT_LEAVING, 0);
}

void requests_add(struct requests *c, int fd)
{
	struct sockaddr_storage address = {};
	uint64_t source, now = clock_us(CLOCK_MONOTONIC);
	bool loopback = host_of_socket(fd, &source);
	struct slot *slot = connections_add(&c->slots, fd, source, now);

	if (!slot) {
		struct slot *victim = connections_victim(&c->slots);

		if (victim) {
			send_away(victim);
			c->mhd.run(c->daemon);
			slot = connections_add(&c->slots, fd, source, now);
		}
	}
	if (!slot) {
		close(fd);
		return;
	}
	slot->loopback = loopback;
	address.ss_family = AF_UNIX;
	if (c->mhd.add_connection(c->daemon, fd, (struct sockaddr *)&address,
				  sizeof(sa_family_t)) != MHD_YES)
		slot_set(slot, SLOT_FREE, 0);
}

void requests_sweep(struct requests *c)
{
	uint64_t now = clock_us(CLOCK_MONOTONIC);
	struct slot *slot;

	while ((slot = connections_overdue(&c->slots, now)))
		send_away(slot);
}

int requests_start(struct requests *c)
{
	c->daemon = c->mhd.start_daemon(
		MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL,
		handle, c, MHD_OPTION_URI_LOG_CALLBACK, begin, c, MHD_OPTION_NOTIFY_COMPLETED,
		completed, c, MHD_OPTION_NOTIFY_CONNECTION, connected, c,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX + 2,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)POOL_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
		90u, MHD_OPTION_END);
	return c->daemon ? 0 : -ENOMEM;
}

void requests_stop(struct requests *c)
{
	while (c->waiting) {
		struct call *call = c->waiting;

		c->waiting = call->next;
		c->mhd.resume_connection(call->connection);
	}
	if (c->daemon)
		c->mhd.stop_daemon(c->daemon);
}
