/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Landlock: a process takes rights from itself, for good. */
#ifndef ZMEM_SERVE_LANDLOCK_H
#define ZMEM_SERVE_LANDLOCK_H

#include <stdint.h>

/* struct landlock_ruleset_attr as Linux 6.12 and later have it; older kernels take its zeros. */
struct landlock_rights {
	uint64_t fs, net, scoped;
};

/* The newest ABI of this kernel; 0: it has no Landlock, or it is off. */
int landlock_abi(void);
/* All rights that a kernel with that ABI can take away. Pure. */
struct landlock_rights landlock_rights(int abi);
/*
 * Takes all of them from this thread. It needs PR_SET_NO_NEW_PRIVS. Returns 0, also on a kernel
 * without Landlock, or a negative errno.
 */
int landlock_enter(void);

#endif
