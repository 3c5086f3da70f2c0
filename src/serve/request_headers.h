/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the headers of a request say: whether the request is allowed, and which text its client
 * accepts.
 */
#ifndef ZMEM_SERVE_REQUEST_HEADERS_H
#define ZMEM_SERVE_REQUEST_HEADERS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether a Host header is an IP address, localhost or `name` (NULL: none), not another name. A web
 * page can make a browser send requests to a host name that resolves to an address of serve (DNS
 * rebinding); the Host header then has that name. Pure.
 */
bool host_is_own(const char *host, const char *name);
/*
 * Whether the Origin or Sec-Fetch-Site header (NULL without one) says that a page of another origin
 * made the browser send the request. Another port of this host is another origin, too. Pure.
 */
bool host_is_foreign(const char *host, const char *origin, const char *site);

/* The secret that a request must contain, with --token-file. */
#define TOKEN_MAX 512

struct token {
	char text[TOKEN_MAX + 1];
	size_t len; /* 0: no token is needed */
};

/*
 * Reads the token: the first line of a file that other users cannot access. Returns 0, or an exit
 * code after a message.
 */
int token_read(struct token *t, const char *path);
/* Whether an Authorization header has the token. The time does not depend on the wrong byte. */
bool token_fits(const struct token *t, const char *authorization);

/*
 * True if the header names OpenMetrics with a weight no smaller than that of text/plain. NULL means
 * that the request has no Accept header. Pure.
 */
bool accept_open_metrics(const char *accept);

#endif
