/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* /proc/PID/stat (Documentation/filesystems/proc.rst, table 1-4). */
#ifndef ZMEM_PROC_STAT_H
#define ZMEM_PROC_STAT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct proc_stat {
	pid_t pid;
	char comm[16]; /* terminated; it may itself hold ") " */
	char state;
	pid_t ppid;
	uint32_t flags; /* PF_ of include/linux/sched.h */
	uint32_t threads;
	uint64_t start_ticks; /* field 22, since boot */
	uint64_t vsize;	      /* bytes */
	uint64_t start_stack; /* field 28; 0 where we may not see it */
};

/* USER_HZ is 100 on every architecture that we build for. */
#define NS_PER_TICK	   10000000u

#define PROC_PF_FORKNOEXEC 0x00000040
#define PROC_PF_KTHREAD	   0x00200000

/* Returns 0 or -EINVAL, and then *ret is untouched. */
int proc_stat_parse(const char *text, size_t len, struct proc_stat *ret);

#endif
