/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the machine's RAM is: MemTotal split into parts of which no two hold the same page. Pure.
 *
 * What /proc/meminfo says overlaps, so a part is a value or what is left of one:
 * - Cached and Buffers are the page cache, with shared memory and tmpfs (Shmem) and what of it is
 *   mapped (Mapped) in it: "mapped" and "cache" are those two parts of it. Shmem lies in both.
 * - With CONFIG_VMAP_STACK (x86-64 since 4.9) stacks are in VmallocUsed, too: "vmalloc" is without.
 * - KReclaimable is SReclaimable and what else the kernel could give back: that is "other", with
 *   Bounce, WritebackTmp and HardwareCorrupted.
 * - What zswap and zram hold is in no value of the kernel's own: it is "compressed swap".
 * - A page of the swap cache is in AnonPages while it is mapped, which nothing tells: it is no
 * part.
 *
 * What is left of MemTotal is "not accounted for": pages that the kernel, drivers, network buffers
 * and file systems took without a counter, pages on CPUs' free lists, swap cache that is not
 * mapped. Negative where counters lag (they are kept per CPU) or drivers' pages are mapped, which
 * Mapped counts and Cached does not.
 */
#ifndef ZMEM_ACCOUNT_H
#define ZMEM_ACCOUNT_H

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
	ACCOUNT_OTHER,
	ACCOUNT_USER, /* the sum of the next two */
	ACCOUNT_ANON,
	ACCOUNT_MAPPED,
	ACCOUNT_CACHE, /* not mapped */
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

/* A part that the kernel does not tell has no bit, and is in "not accounted for". */
void account_split(const struct system_info *system, struct account *ret);

/* So many hundredths of `smaller` is `larger`. False if there is no such number. */
bool account_ratio(uint64_t larger, uint64_t smaller, uint64_t *ret_percent);

#endif
