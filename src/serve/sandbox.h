/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From here on the process has what it holds open and nothing else: no capability, a user that no
 * other process has, no file, no new socket, no new program. Landlock and seccomp are left out
 * where the kernel has none; capabilities and user are not.
 */
#ifndef ZMEM_SERVE_SANDBOX_H
#define ZMEM_SERVE_SANDBOX_H

#include <stddef.h>

/* `fds`: so many descriptors at most, `memory` bytes of address space. 0 or a negative errno. */
int sandbox_enter(size_t fds, size_t memory);

#endif
