/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a process gives up for good before it handles data of others: files (Landlock), system calls
 * (seccomp), memory and other resources. Landlock and seccomp are skipped on a kernel without them.
 */
#ifndef ZMEM_PRIVILEGE_SANDBOX_H
#define ZMEM_PRIVILEGE_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

/* 1 in a build with a sanitizer, which opens files and reserves terabytes. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
	__has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* Sets both values of the limit RLIMIT_…; a lower one stays. Returns 0 or a negative errno. */
int sandbox_limit(int what, rlim_t max);

/* ---- Landlock ---- */

/* struct landlock_ruleset_attr of Linux 6.12 and later; older kernels accept its zeros. */
struct landlock_rights {
	uint64_t fs, net, scoped;
};

/* The newest ABI of this kernel; 0: Landlock is missing or disabled. */
int landlock_abi(void);
/* All rights that a kernel with that ABI can restrict. Pure. */
struct landlock_rights landlock_rights(int abi);
/*
 * Gives up all of them for this thread, but those to read files if `reads`. PR_SET_NO_NEW_PRIVS
 * must be set. Returns 0, also on a kernel without Landlock, or a negative errno.
 */
int landlock_enter(bool reads);

/* ---- seccomp ---- */

#define SYSTEM_CALL_CHECKS 2

enum check_kind {
	CHECK_NONE,
	CHECK_EQUAL,
	CHECK_WITHOUT, /* none of these bits is set */
};

/* A system call that is allowed. Every checked argument is an int, so its lower 32 bits suffice. */
struct system_call {
	uint32_t number;
	struct {
		enum check_kind kind;
		unsigned arg;
		uint32_t value;
	} check[SYSTEM_CALL_CHECKS]; /* all must hold; a later entry may still allow the call */
};

#define CALL_EQUAL(arg, value)                                                                     \
	{                                                                                          \
		CHECK_EQUAL, arg, (uint32_t)(value)                                                \
	}
#define CALL_WITHOUT(arg, value)                                                                   \
	{                                                                                          \
		CHECK_WITHOUT, arg, (uint32_t)(value)                                              \
	}
#define CALL_ONLY(arg, value) CALL_WITHOUT(arg, ~(uint32_t)(value))

/*
 * From here on this thread's other system calls fail with EPERM: a newer library that tries one
 * more call can fall back or report an error. Those of another architecture end the process.
 * PR_SET_NO_NEW_PRIVS must be set. Returns 0, also on a kernel without seccomp filters, or a
 * negative errno: -E2BIG for more than SYSTEM_CALLS_MAX entries.
 */
#define SYSTEM_CALLS_MAX 64
int system_calls_limit(const struct system_call *allowed, size_t count);

#endif
