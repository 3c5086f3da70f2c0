/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What this process has cost so far, as the other one is told it. */
#ifndef ZMEM_SERVE_COST_H
#define ZMEM_SERVE_COST_H

#include "cli/background.h"
#include "serve/channel.h"

void cost_read(const struct self_usage *own, struct cost *ret);

#endif
