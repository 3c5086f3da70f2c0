/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The two processes of serve. The collector process has BPF and the capabilities that reading /proc
 * of other processes takes. It has no network socket and answers one kind of request on one local
 * socket. No text of an HTTP request reaches it. The HTTP process holds the listening sockets, one
 * socket to the collector process, one that asks for the users of clients (peer.h), and nothing
 * else: see sandbox.h.
 */
#ifndef ZMEM_SERVE_SERVE_H
#define ZMEM_SERVE_SERVE_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "fields/process_fields.h"
#include "serve/listen.h"
#include "serve/request_headers.h"

#define GROUPS_USUAL 100

struct options;

/* The configuration of the HTTP process. */
struct serve_config {
	const struct options *options;
	struct listeners listeners;
	struct token token;
	const struct field *group; /* groups of the metrics and the page; NULL: unit, then name */
	size_t groups;		   /* how many have series of their own */
	uint32_t age_ms;	   /* the maximum age of a snapshot */
	char host[HOST_NAME_MAX + 1];
};

/* The command. Returns the exit code of the program. */
int command_serve(const struct options *o);
/* Whether serve can run. Returns 0, or a negative errno and what is missing. */
int serve_check(char *why, size_t cap);

/*
 * The collector process: answers on `channel` until `signals` (a signalfd) has a signal or the HTTP
 * process `http`, at the other end of the channel, ends. Returns an exit code.
 */
int serve_snapshots(const struct options *o, int channel, int signals, pid_t http);
/*
 * The HTTP process: serves until `signals` has a signal or the collector process ends. Returns an
 * exit code.
 */
int serve_http(const struct serve_config *config, int channel, int signals);

#endif
