/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Identity and memory counters of one process or thread: /proc/PID/stat
 * (Documentation/filesystems/proc.rst, table 1-4) and /proc/PID/status.
 */
#ifndef ZMEM_PROC_STATUS_H
#define ZMEM_PROC_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- stat ---- */

struct proc_stat {
	pid_t pid;
	char comm[16]; /* terminated; it may contain ") " */
	char state;
	pid_t ppid;
	uint32_t flags; /* PF_ of include/linux/sched.h */
	uint32_t threads;
	uint64_t majflt;      /* field 12: of all threads, ended ones included */
	uint64_t start_ticks; /* field 22, since boot */
	uint64_t vsize;	      /* bytes */
	uint64_t start_stack; /* field 28; 0 without permission */
};

/* USER_HZ is 100 on all supported architectures. */
#define NS_PER_TICK	   10000000u

#define PROC_PF_FORKNOEXEC 0x00000040
#define PROC_PF_KTHREAD	   0x00200000

/* Returns 0, or -EINVAL; then *ret is untouched. */
int proc_stat_parse(const char *text, size_t len, struct proc_stat *ret);

/* Likewise a file under dirfd; also a negative errno if it cannot be read. */
int proc_stat_read(int dirfd, const char *path, struct proc_stat *ret);

/* ---- status ---- */

enum status_counter {
	STATUS_VM_SIZE,
	STATUS_VM_LCK,
	STATUS_VM_PIN,
	STATUS_VM_HWM,
	STATUS_RSS_ANON,
	STATUS_RSS_FILE,
	STATUS_RSS_SHMEM,
	STATUS_VM_PTE,
	STATUS_VM_SWAP,
	STATUS_HUGETLB,
	STATUS_COUNTERS,
};

struct proc_status {
	uid_t euid;
	gid_t egid;    /* (gid_t)-1: there is no such line */
	pid_t own_pid; /* in its own pid namespace; 0: there is no such line */
	uint32_t threads;
	uint32_t have;			 /* bit per enum status_counter */
	uint64_t value[STATUS_COUNTERS]; /* bytes */
};

static inline bool status_has(const struct proc_status *status, enum status_counter counter)
{
	return status->have >> counter & 1;
}

/*
 * Compares whole keys and ignores unknown ones; a missing key has no bit. A process without memory
 * (kernel thread, zombie) has no values. Returns 0, or -EINVAL without Uid; then *ret is untouched.
 */
int proc_status_parse(const char *text, size_t len, struct proc_status *ret);

#endif
