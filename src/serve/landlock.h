/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Landlock: a process gives up rights permanently. */
#ifndef ZMEM_SERVE_LANDLOCK_H
#define ZMEM_SERVE_LANDLOCK_H

#include <stdint.h>

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

#endif
