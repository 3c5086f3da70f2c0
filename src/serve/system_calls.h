/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Limits the system calls of the HTTP process with seccomp. */
#ifndef ZMEM_SERVE_SYSTEM_CALLS_H
#define ZMEM_SERVE_SYSTEM_CALLS_H

/*
 * From here on other system calls fail with EPERM, and those of another architecture end the
 * process. PR_SET_NO_NEW_PRIVS must be set. Returns 0, also on a kernel without seccomp filters, or
 * a negative errno.
 */
int system_calls_limit(void);

#endif
