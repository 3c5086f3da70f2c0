/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The machine's own figures: meminfo, zram, names. */
#ifndef ZMEM_SYSTEM_H
#define ZMEM_SYSTEM_H

#include <stddef.h>
#include <stdint.h>

enum meminfo_figure {
	MEMINFO_TOTAL,
	MEMINFO_AVAILABLE,
	MEMINFO_ANON,
	MEMINFO_MAPPED,
	MEMINFO_SHMEM,
	MEMINFO_SWAP_TOTAL,
	MEMINFO_SWAP_FREE,
	MEMINFO_ZSWAP_POOL,   /* Zswap: RAM it takes */
	MEMINFO_ZSWAP_STORED, /* Zswapped: what is in it, uncompressed */
	MEMINFO_FIGURES,
};

struct meminfo {
	uint32_t have;			 /* bit per enum meminfo_figure */
	uint64_t value[MEMINFO_FIGURES]; /* bytes */
};

/* Exact keys; missing ones have no bit. */
void meminfo_parse(const char *text, size_t len, struct meminfo *ret);

struct zram_stat {
	uint64_t stored, compressed, used; /* bytes: the first three of mm_stat */
};

/* /sys/block/zramN/mm_stat (Documentation/admin-guide/blockdev/zram.rst). Returns 0 or -EINVAL. */
int zram_stat_parse(const char *text, size_t len, struct zram_stat *ret);

/*
 * Calls fn for every initialised zram device below a /sys/block, in the order of their numbers.
 * Returns 0 or the first negative errno; devices that can be read are told all the same, and a
 * machine without any is no error.
 */
int zram_each(const char *sys_block,
	      void (*fn)(void *arg, const char *name, const struct zram_stat *stat), void *arg);

/*
 * The page frame number behind the highest page of RAM, from the zones of a /proc/zoneinfo (mm/
 * vmstat.c); memory of devices is no RAM. 0 if there is none in it.
 */
uint64_t zoneinfo_parse(const char *text, size_t len);
/* Likewise of the file below a /proc that is open as proc_fd; 0 if it cannot be read, too. */
uint64_t zoneinfo_read(int proc_fd);

/* The number of the newest process or thread: the last figure of /proc/loadavg; 0 without one. */
uint64_t loadavg_parse_last_pid(const char *text, size_t len);

#endif
