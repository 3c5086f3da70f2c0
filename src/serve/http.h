/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The HTTP process of serve. It holds the listening sockets and one socket to the collector
 * process, and nothing else: see sandbox.h.
 */
#ifndef ZMEM_SERVE_HTTP_H
#define ZMEM_SERVE_HTTP_H

#include "serve/serve.h"

/*
 * Serves until `signals` (a signalfd) has a signal or the collector process ends. Returns an exit
 * code.
 */
int http_run(const struct serve_config *config, int channel, int signals);

#endif
