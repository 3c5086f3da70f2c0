/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Restores the terminal after a crash. The sequences are prepared beforehand. The state is global,
 * because a signal handler gets no argument.
 */
#ifndef ZMEM_TOP_RESCUE_H
#define ZMEM_TOP_RESCUE_H

/* Saves the modes of the terminal. Call it before they are changed. */
void rescue_prepare(void);
/*
 * Call when full-screen mode begins. On a crash, text in `message_fd` is copied to `error_fd`; -1:
 * none is.
 */
void rescue_arm(int error_fd, int message_fd);
/* Call before full-screen mode ends. */
void rescue_disarm(void);

#endif
