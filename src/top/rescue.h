/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A crash leaves the terminal as it was. Knows what to write, prepared while all is well; the one
 * place with state of its own, since a signal handler is given none.
 */
#ifndef ZMEM_TOP_RESCUE_H
#define ZMEM_TOP_RESCUE_H

/* Before anything is done to the terminal: keeps its modes. */
void rescue_prepare(void);
/* The screen is ours. What was said into `message_fd` goes to `error_fd`; -1: nothing does. */
void rescue_arm(int error_fd, int message_fd);
/* It is not any more. */
void rescue_disarm(void);

#endif
