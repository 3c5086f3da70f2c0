/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Handles the requests of libmicrohttpd: checks them, suspends them until a snapshot arrives and
 * answers them. All run on one thread; a suspended request does not delay others.
 */
#ifndef ZMEM_SERVE_REQUESTS_H
#define ZMEM_SERVE_REQUESTS_H

#include "serve/connections.h"
#include "serve/endpoints.h"
#include "serve/microhttpd.h"

struct pending;

struct requests {
	struct microhttpd mhd;
	struct server server;
	struct connections connections;
	struct pending *waiting;
	struct MHD_Daemon *daemon;
	int diag;      /* of peer_open(), owned; negative: users are not known */
	size_t unsent; /* bytes of responses not sent in full */
	int error;     /* a negative errno if the collector process cannot be asked */
};

/* Starts a daemon of libmicrohttpd without a listening socket. Returns 0 or -ENOMEM. */
int requests_start(struct requests *c);
/*
 * True if a connection can be added. If the table is full, closes one for it. False: try again
 * later.
 */
bool requests_make_room(struct requests *c);
/*
 * Adds a new connection and takes ownership of its socket. `name`: that of the listener's address
 * in
 * --listen, or NULL. It must live as long as the connection.
 */
void requests_add(struct requests *c, int fd, const char *name);
/* Resumes the requests that have their snapshot or have waited too long. */
void requests_resume(struct requests *c);
/* Shuts down the connections that have exceeded their time limit. */
void requests_sweep(struct requests *c);
void requests_stop(struct requests *c);

#endif
