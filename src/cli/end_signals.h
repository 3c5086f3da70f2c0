/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The signals that ask us to end. */
#ifndef ZMEM_CLI_END_SIGNALS_H
#define ZMEM_CLI_END_SIGNALS_H

#include <signal.h>

/* Without those that were ignored when we were started (nohup, `&` in a script): they stay so. */
void end_signals(sigset_t *ret);

#endif
