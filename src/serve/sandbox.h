/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Restricts the HTTP process to the descriptors that it has open: no capability, a user that no
 * other process has, no file, no new socket, no new program. Landlock and seccomp are skipped on a
 * kernel without them; capabilities and the user always change.
 */
#ifndef ZMEM_SERVE_SANDBOX_H
#define ZMEM_SERVE_SANDBOX_H

#include <stddef.h>
#include <stdint.h>

/* 1 in a build with a sanitizer, which opens files and reserves terabytes. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/*
 * Allows at most `fds` descriptors and `memory` bytes of address space. Returns 0 or a negative
 * errno.
 */
int sandbox_enter(size_t fds, size_t memory);

/* ---- the parts, for tests ---- */

/* struct landlock_ruleset_attr of Linux 6.12 and later; older kernels accept its zeros. */
struct landlock_rights {
	uint64_t fs, net, scoped;
};

/* The newest ABI of this kernel; 0: Landlock is missing or disabled. */
int landlock_abi(void);
/* All rights that a kernel with that ABI can restrict. Pure. */
struct landlock_rights landlock_rights(int abi);
/*
 * Gives up all of them for this thread. PR_SET_NO_NEW_PRIVS must be set. Returns 0, also on a
 * kernel without Landlock, or a negative errno.
 */
int landlock_enter(void);

/*
 * From here on other system calls fail with EPERM, and those of another architecture end the
 * process. PR_SET_NO_NEW_PRIVS must be set. Returns 0, also on a kernel without seccomp filters, or
 * a negative errno.
 */
int system_calls_limit(void);

#endif
