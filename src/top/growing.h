/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counts in the background what makes one process grow, while top shows it. */
#ifndef ZMEM_TOP_GROWING_H
#define ZMEM_TOP_GROWING_H

#include <sys/types.h>

#include "model/growth.h"

struct growing;

/* Begins to count. Returns 0, or an exit code after a message. */
int growing_start(pid_t pid, struct growing **ret);
/* What was counted so far, valid until the next call; NULL after a message. */
const struct growth *growing_report(struct growing *g);
/* Ends counting; `g` may be NULL. */
void growing_stop(struct growing *g);

#endif
