/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* seccomp: the system calls that the process that speaks HTTP has left. */
#ifndef ZMEM_SERVE_SYSTEM_CALLS_H
#define ZMEM_SERVE_SYSTEM_CALLS_H

/*
 * From here on all others fail with EPERM, and those of another architecture end the process. It
 * needs PR_SET_NO_NEW_PRIVS. Returns 0, also on a kernel without filters, or a negative errno.
 */
int system_calls_limit(void);

#endif
