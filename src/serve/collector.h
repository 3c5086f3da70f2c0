/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The collector process of serve. It has BPF and the capabilities that reading /proc of other
 * processes takes. It has no network socket and answers one kind of request on one local socket. No
 * text of an HTTP request reaches it.
 */
#ifndef ZMEM_SERVE_COLLECTOR_H
#define ZMEM_SERVE_COLLECTOR_H

#include <sys/types.h>

#include "cli/options.h"

/*
 * Answers on `channel` until `signals` (a signalfd) has a signal or the HTTP process `http`, at the
 * other end of the channel, ends. Returns an exit code.
 */
int serve_snapshots(const struct options *o, int channel, int signals, pid_t http);

#endif
