/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The stack that we need, and the user that started us. Each function returns 0, or an exit code
 * after a message.
 */
#ifndef ZMEM_CLI_SECURE_H
#define ZMEM_CLI_SECURE_H

#include <stdbool.h>
#include <stdint.h>

/* Raises the limit of the stack if it is too low. */
int secure_stack(void);
/*
 * First of all: gives up the capabilities that no command needs but those that administer, and the
 * environment of somebody who has fewer than we. `ret_held`: what we were started with
 * (privilege_mask).
 */
int secure_start(bool administers, uint64_t *ret_held);
/*
 * Once the source is open: gives up what only loading needed. `output`: NULL, or a file's name;
 * `locks`: memory will be locked.
 */
int secure_loaded(const char *output, bool locks);

#endif
