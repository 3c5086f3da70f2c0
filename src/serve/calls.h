/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Requests as libmicrohttpd hands them over: checked, made to wait for a snapshot, answered. One
 * thread; a request that waits is suspended and holds up nobody.
 */
#ifndef ZMEM_SERVE_CALLS_H
#define ZMEM_SERVE_CALLS_H

#include "serve/microhttpd.h"
#include "serve/pages.h"
#include "serve/slots.h"

struct call;

struct calls {
	struct microhttpd mhd;
	struct server server;
	struct slots slots;
	struct call *waiting;
	struct MHD_Daemon *daemon;
	size_t unsent; /* bytes of answers that are on their way */
	int error;     /* the other process is gone */
};

/* Starts a daemon of `mhd` that has no socket of its own. Returns 0 or -ENOMEM. */
int calls_start(struct calls *c);
/* A newcomer; his socket is no longer the caller's. */
void calls_add(struct calls *c, int fd);
/* Goes on with those whose snapshot has come, or whose patience has ended. */
void calls_resume(struct calls *c);
/* Ends connections whose time is up. */
void calls_sweep(struct calls *c);
void calls_stop(struct calls *c);

#endif
