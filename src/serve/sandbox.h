/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Restricts the HTTP process to the descriptors that it has open: no capability, a user that no
 * other process has, no file, no new socket, no new program. Landlock and seccomp are skipped on a
 * kernel without them; capabilities and the user always change.
 */
#ifndef ZMEM_SERVE_SANDBOX_H
#define ZMEM_SERVE_SANDBOX_H

#include <stddef.h>

#include "privilege/sandbox.h"

/*
 * Allows at most `fds` descriptors and `memory` bytes of address space. Returns 0 or a negative
 * errno.
 */
int sandbox_enter(size_t fds, size_t memory);

/*
 * From here on the HTTP process makes only the system calls that it needs. A part of the above, for
 * tests.
 */
int http_system_calls_limit(void);

#endif
