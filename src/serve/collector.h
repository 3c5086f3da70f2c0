/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The process that collects. It has BPF and what /proc of others takes, no socket to any network,
 * and answers one question on one socket. Nothing of a request comes this far.
 */
#ifndef ZMEM_SERVE_COLLECTOR_H
#define ZMEM_SERVE_COLLECTOR_H

#include <sys/types.h>

#include "cli/options.h"

/*
 * Answers on `channel` until a signal of `signals` (a signalfd) or the end of `http`, the process
 * at its other end. Returns an exit code.
 */
int collector_run(const struct options *o, int channel, int signals, pid_t http);

#endif
