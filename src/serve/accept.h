/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Chooses between the Prometheus and the OpenMetrics text by the Accept header. Pure. */
#ifndef ZMEM_SERVE_ACCEPT_H
#define ZMEM_SERVE_ACCEPT_H

#include <stdbool.h>

/*
 * True if the header names OpenMetrics with a weight no smaller than that of text/plain. NULL means
 * that the request has no Accept header.
 */
bool accept_open_metrics(const char *accept);

#endif
