/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What becomes free when a group of processes ends (bpf/freed.bpf.c): anonymous memory that only
 * the group maps, files of shared memory that only it holds, its page tables, and the RAM of
 * swap slots that only it has.
 */
#ifndef ZMEM_SOURCE_FREED_SOURCE_H
#define ZMEM_SOURCE_FREED_SOURCE_H

#include "base/diag.h"
#include "model/files.h"
#include "model/snapshot.h"
#include "source/source.h"
#include "zmem/held.h"
#include "zmem/swap.h"

struct freed_source;

/*
 * Loads the programs. `from` has calibrated where the kernel has its memory, and is asked again
 * before each reading. There is room for twice the anonymous and swapped pages of now, and for at
 * most half of all pages, to be mapped more than once: the kernel takes 16 bytes for each, and 64
 * more while it is known. Returns 0, or a negative errno and a note why.
 */
int freed_source_open(const struct source *from, const struct meminfo *meminfo, struct diag *diag,
		      struct freed_source **ret);
/* NULL is accepted. */
void freed_source_close(struct freed_source *s);

/*
 * Sets FREED and its status of these processes of the snapshot, so that those of a group add up to
 * what becomes free when all of them end. `group`: of each process, numbers from 1 on. It takes
 * SWAP_RAM and PGTABLES from the snapshot. `tmpfs`: all files of shared memory, or NULL: then file
 * systems of a mount namespace that ends with a group are left out. `swap`:
 * swap_source_devices(), or NULL. Returns 0 or a negative errno; a process that could not be read
 * is no error.
 */
int freed_source_read(struct freed_source *s, const struct file_set *tmpfs,
		      const struct zmem_swap *swap, struct snapshot *snapshot,
		      struct process *const *process, const uint32_t *group, size_t count);
/* The files that this reading met mapped, by address: how often, and by which group. */
const struct zmem_held_file *freed_source_mapped(const struct freed_source *s, size_t *ret_count);

#endif
