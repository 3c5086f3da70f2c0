/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Requests as libmicrohttpd hands them over: checked, made to wait for a snapshot, answered. One
 * thread; a request that waits is suspended and holds up nobody.
 */
#ifndef ZMEM_SERVE_REQUESTS_H
#define ZMEM_SERVE_REQUESTS_H

#include "serve/microhttpd.h"
#include "serve/endpoints.h"
#include "serve/connections.h"

struct call;

struct requests {
	struct microhttpd mhd;
	struct server server;
	struct connections slots;
	struct call *waiting;
	struct MHD_Daemon *daemon;
	size_t unsent; /* bytes of answers that are on their way */
	int error;     /* the other process is gone */
};

/* Starts a daemon of `mhd` that has no socket of its own. Returns 0 or -ENOMEM. */
int requests_start(struct requests *c);
/* A newcomer; his socket is no longer the caller's. */
void requests_add(struct requests *c, int fd);
/* Goes on with those whose snapshot has come, or whose patience has ended. */
void requests_resume(struct requests *c);
/* Ends connections whose time is up. */
void requests_sweep(struct requests *c);
void requests_stop(struct requests *c);

#endif
