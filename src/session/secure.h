/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The stack that we need, and the user that started us. Each function returns 0, or an exit code
 * after a message.
 */
#ifndef ZMEM_SESSION_SECURE_H
#define ZMEM_SESSION_SECURE_H

#include <stdbool.h>
#include <stdint.h>

#include "privilege/privilege.h"

/* Raises the limit of the stack if it is too low. */
int secure_stack(void);
/*
 * To be called first. Gives up the capabilities that only pin and unpin (`administers`) need, and
 * the environment if the user has fewer rights. `records`: what record --keep and serve watch will
 * be opened. `opens`: files of other users will be opened, as these users. `lists`: objects of BPF
 * will be listed. `ret_held`: the capabilities at the start (privilege_mask).
 */
int secure_start(bool administers, bool records, bool opens, bool lists, uint64_t *ret_held);
/*
 * To be called when the source is open. Gives up the capabilities that only loading needed.
 * `output`: the file that will be written, or NULL. `later`: enum privilege_later.
 */
int secure_loaded(const char *output, unsigned later);

#endif
