/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What allocated kernel memory: /proc/slabinfo and /proc/vmallocinfo, which root may read. */
#ifndef ZMEM_PROC_KERNEL_MEMORY_H
#define ZMEM_PROC_KERNEL_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "model/ram.h"

#define NAME_SUMS_MAX 1024

/* Sums by name. Zeroed memory has none. */
struct name_sums {
	struct ram_part item[NAME_SUMS_MAX];
	size_t count;
	uint64_t others; /* of names without room */
};

/* Adds to the sum of the name, of `len` bytes. */
void name_sums_add(struct name_sums *sums, const char *name, size_t len, uint64_t bytes);
/* Sorts by size, the largest first. */
void name_sums_sort(struct name_sums *sums);

/* These read files below the open /proc. They return 0 or a negative errno. */

/* Pages of slabs by cache (mm/slab_common.c, slabinfo version 2.1). */
int slabinfo_read(int proc_fd, uint32_t page_size, struct name_sums *ret);
/*
 * Pages of vmalloc by the function that allocated them (mm/vmalloc.c). Kernel stacks are left out.
 */
int vmallocinfo_read(int proc_fd, uint32_t page_size, struct name_sums *ret);

/* Bytes of vmalloc that processes can map; 0 if it cannot be read. */
uint64_t vmalloc_mappable(int proc_fd, uint32_t page_size);
/*
 * Pages that drivers mapped one by one into a process (VM_MIXEDMAP), by the name of the mapping:
 * "/dev/nvidiactl", "socket:[1234]", "anon_inode:bpf-map". Reads below the directory of the
 * process; reads smaps, which walks its page tables, only if it maps a device. Returns 0 or a
 * negative errno.
 */
int driver_pages_read(int pid_fd, struct name_sums *ret);

#endif
