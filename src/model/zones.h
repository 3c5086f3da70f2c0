/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The zones of RAM, from /proc/zoneinfo (mm/vmstat.c). Memory of devices is not RAM. */
#ifndef ZMEM_MODEL_ZONES_H
#define ZMEM_MODEL_ZONES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ZONES_MAX 512

/* A zone with frames. All numbers are frames. */
struct zone {
	uint64_t start, spanned; /* the frame numbers that it has, with holes in between */
	uint64_t present;	 /* RAM among them */
	uint64_t managed;	 /* of these, what was not reserved at boot */
	uint64_t free, high;	 /* free ones; with fewer than `high` the kernel reclaims */
	uint64_t lowmem;	 /* the most that it keeps for allocations that need this zone */
	uint32_t node;
};

struct zones {
	size_t count;	 /* 0: not known */
	bool cut;	 /* there are more */
	uint64_t end;	 /* one more than the highest frame number of RAM */
	uint64_t listed; /* free frames on lists of CPUs, which MemFree does not count */
	/* Free frames that MemAvailable leaves out (calculate_totalreserve_pages()). */
	uint64_t reserve;
	struct zone zone[ZONES_MAX];
};

/* Reads complete lines of the file below the open /proc; no zones if it cannot be read. */
void zones_read(int proc_fd, struct zones *ret);

/* The bits of a page table entry that can be an address below frame number `end`. */
uint64_t zones_phys_mask(uint64_t end, size_t page_size);

/* The sums over all zones. */
uint64_t zones_present(const struct zones *z);

/* A run of frame numbers of one node. */
struct frame_span {
	uint64_t first, end;
	uint32_t node;
};

/*
 * The frame numbers of all zones, each once, in their order. `ret` has room for ZONES_MAX. Returns
 * the number of spans; *ret_mixed: zones of different nodes overlap, so no span has a node.
 */
size_t zones_spans(const struct zones *z, struct frame_span *ret, bool *ret_mixed);

#endif
