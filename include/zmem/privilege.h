/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which of the capabilities we need this process holds. */
#ifndef ZMEM_PRIVILEGE_H
#define ZMEM_PRIVILEGE_H

#include <stdbool.h>

enum privilege {
	PRIVILEGE_BPF,	   /* CAP_BPF: load programs */
	PRIVILEGE_PERFMON, /* CAP_PERFMON: let them read kernel memory */
	PRIVILEGE_PTRACE,  /* CAP_SYS_PTRACE: smaps_rollup of other users */
	PRIVILEGE_COUNT,
};

/* "CAP_BPF" … */
const char *privilege_name(enum privilege privilege);
/* True if it is effective; CAP_SYS_ADMIN stands for the first two, as the kernel has it. */
bool privilege_held(enum privilege privilege);

#endif
