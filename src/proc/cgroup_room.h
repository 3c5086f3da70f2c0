/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How much memory this process may still take before its cgroup, or one above it, is full. */
#ifndef ZMEM_PROC_CGROUP_ROOM_H
#define ZMEM_PROC_CGROUP_ROOM_H

#include <stdint.h>

/* In bytes: UINT64_MAX without a limit, 0 if it is not known. What can be reclaimed counts as used.
 */
uint64_t cgroup_room(void);

#endif
