/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the machine's RAM is: MemTotal split into parts. No two parts hold the same page. Pure.
 *
 * The values of /proc/meminfo overlap, so a part is a value or the rest of a value:
 * - Cached and Buffers are the page cache and shared memory with tmpfs (Shmem): "cache" is without
 *   Shmem. Mapped says how much of both processes map, but it also counts pages of drivers that
 *   processes map (vm_insert_page(), a packet ring), which Cached does not: it is no part.
 * - With CONFIG_VMAP_STACK (x86-64 since 4.9) VmallocUsed includes stacks: "vmalloc" does not.
 * - KReclaimable is SReclaimable and other memory that the kernel could free: the rest is "other",
 *   with Bounce, WritebackTmp and HardwareCorrupted.
 * - No value of meminfo includes zswap and zram: they are "compressed swap".
 * - A page of the swap cache is in AnonPages while it is mapped, and no value tells how many are:
 *   the swap cache is no part.
 *
 * The rest of MemTotal is "not accounted for": pages that the kernel, drivers, network buffers and
 * file systems allocated without a counter, also if processes map them, swap cache that is not
 * mapped, the rest of huge pages of which processes map a part, and lines of meminfo of which the
 * place is not known (struct meminfo_line). It is negative if counters lag (they are kept per CPU).
 *
 * MemFree leaves out the free pages on lists of CPUs: "free" has them (struct free_memory).
 */
#ifndef ZMEM_MODEL_ACCOUNT_H
#define ZMEM_MODEL_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "model/snapshot.h"

enum account_part {
	ACCOUNT_KERNEL, /* the sum of those up to ACCOUNT_OTHER */
	ACCOUNT_SLAB_RECLAIMABLE,
	ACCOUNT_SLAB_UNRECLAIMABLE,
	ACCOUNT_PAGE_TABLES,
	ACCOUNT_SEC_PAGE_TABLES,
	ACCOUNT_STACKS,
	ACCOUNT_VMALLOC,
	ACCOUNT_PERCPU,
	ACCOUNT_COMPRESSED_SWAP,
	ACCOUNT_GPU_ACTIVE,
	ACCOUNT_GPU_RECLAIM,
	ACCOUNT_OTHER,
	ACCOUNT_USER, /* the sum of the next two */
	ACCOUNT_ANON,
	ACCOUNT_SHMEM,
	ACCOUNT_CACHE, /* of files and block devices */
	ACCOUNT_HUGETLB,
	ACCOUNT_FREE,
	ACCOUNT_UNACCOUNTED,
	ACCOUNT_TOTAL, /* the sum of kernel, user, cache, hugetlb, free and unaccounted */
	ACCOUNT_PARTS,
};

struct account {
	uint32_t have;		      /* bit per enum account_part */
	int64_t value[ACCOUNT_PARTS]; /* bytes; only "unaccounted" may be negative */
};

static inline bool account_has(const struct account *a, enum account_part part)
{
	return a->have >> part & 1;
}

/* A part that the kernel does not tell has no bit: its memory is in "not accounted for". */
void account_split(const struct system_info *system, struct account *ret);

/*
 * MemTotal is used, can be freed, or free. Free pages on lists of CPUs are free. What can be freed
 * is the cache and slab in MemAvailable (si_mem_available(), mm/show_mem.c). Without struct
 * free_memory it is MemAvailable less MemFree: too little, for MemAvailable is less by a reserve.
 */
struct account_sums {
	uint64_t used, freeable, free; /* bytes */
};

/* False: a counter is missing, or they contradict each other. */
bool account_sums(const struct system_info *system, struct account_sums *ret);

/* `larger` in percent of `smaller`. False if `smaller` is 0 or the number is too large. */
bool account_ratio(uint64_t larger, uint64_t smaller, uint64_t *ret_percent);

#endif
