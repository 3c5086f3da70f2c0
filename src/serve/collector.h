/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The process of serve that collects. It has BPF and reads /proc of other processes, has no socket
 * to a network, and answers one kind of message on one socket. No part of a request reaches it.
 */
#ifndef ZMEM_SERVE_COLLECTOR_H
#define ZMEM_SERVE_COLLECTOR_H

#include <sys/types.h>

#include "cli/options.h"

/*
 * Answers on `channel` until `signals` (a signalfd) has one, or until `http` ends, the process at
 * the other end. Returns an exit code.
 */
int serve_snapshots(const struct options *o, int channel, int signals, pid_t http);

#endif
