/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The machine's own values: meminfo, swap devices, zram. */
#ifndef ZMEM_SYSTEM_H
#define ZMEM_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum meminfo_counter {
#define ZMEM_MEMINFO(id, name) MEMINFO_##id,
#include "model/meminfo.def"
#undef ZMEM_MEMINFO
	MEMINFO_COUNTERS,
};

struct meminfo {
	uint32_t have;			  /* bit per enum meminfo_figure */
	uint64_t value[MEMINFO_COUNTERS]; /* bytes */
};

/* Exact keys; missing ones have no bit. */
void meminfo_parse(const char *text, size_t len, struct meminfo *ret);

static inline bool meminfo_has(const struct meminfo *m, enum meminfo_counter f)
{
	return m->have >> f & 1;
}

/* Swap in use. False if the machine does not tell, or what it tells cannot be. */
static inline bool meminfo_swap_used(const struct meminfo *m, uint64_t *ret)
{
	uint64_t total = m->value[MEMINFO_SWAP_TOTAL], free = m->value[MEMINFO_SWAP_FREE];

	/* The two are not read at one moment: swapoff comes in between. */
	if (!meminfo_has(m, MEMINFO_SWAP_TOTAL) || !meminfo_has(m, MEMINFO_SWAP_FREE) ||
	    free > total)
		return false;
	*ret = total - free;
	return true;
}

enum swap_kind {
	SWAP_OTHER, /* a word that we do not know */
	SWAP_PARTITION,
	SWAP_FILE,
};

#define SWAP_NAME_MAX 255

/* One line of /proc/swaps. */
struct swap_device {
	char name[SWAP_NAME_MAX + 1]; /* any bytes, without the kernel's escapes; its beginning */
	enum swap_kind kind;
	bool name_cut;	     /* there was more of it */
	uint64_t size, used; /* bytes */
	int priority;
};

/*
 * A /proc/swaps: at most `max` devices, in its order. Lines that are not understood, or that may be
 * cut off, are left out. Returns how many, or -EINVAL without the line that all of them begin with.
 */
int swaps_parse(const char *text, size_t len, struct swap_device *ret, size_t max);

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

/* The number of the newest process or thread: the last value of /proc/loadavg; 0 without one. */
uint64_t loadavg_parse_last_pid(const char *text, size_t len);

#endif
