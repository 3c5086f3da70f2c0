/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* /proc/PID/status: identity and memory counters of one process or thread. */
#ifndef ZMEM_PROC_STATUS_H
#define ZMEM_PROC_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum status_counter {
	STATUS_VM_SIZE,
	STATUS_VM_LCK,
	STATUS_VM_PIN,
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
	uint32_t threads;
	uint32_t have;			 /* bit per enum status_figure */
	uint64_t value[STATUS_COUNTERS]; /* bytes */
};

static inline bool status_has(const struct proc_status *status, enum status_counter counter)
{
	return status->have >> counter & 1;
}

/*
 * Exact keys; unknown ones are ignored, missing ones have no bit. A process without memory (kernel
 * thread, zombie) has none of the values. Returns 0, or -EINVAL without Uid, and then *ret is
 * untouched.
 */
int proc_status_parse(const char *text, size_t len, struct proc_status *ret);

#endif
