/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The process that speaks HTTP. It holds what listens, one socket to the process that collects, and
 * nothing else: see jail.h.
 */
#ifndef ZMEM_SERVE_HTTP_H
#define ZMEM_SERVE_HTTP_H

#include "serve/serve.h"

/* Serves until a signal of `signals` (a signalfd) or the other's end. Returns an exit code. */
int http_run(const struct serve_config *config, int channel, int signals);

#endif
