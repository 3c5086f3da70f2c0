/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads swap slot by slot (bpf/swap.bpf.c): how many processes share each swap entry, and what it
 * takes in RAM in zram or zswap.
 */
#ifndef ZMEM_SOURCE_SWAP_SOURCE_H
#define ZMEM_SOURCE_SWAP_SOURCE_H

#include "base/diag.h"
#include "model/files.h"
#include "model/snapshot.h"
#include "source/source.h"
#include "zmem/swap.h"

struct swap_source;

/*
 * Loads the programs. `from` has calibrated where the kernel has its memory, and is asked again
 * before each snapshot; NULL: only files and the swap cache can be read. Returns 0, or a negative
 * errno and a note why.
 */
int swap_source_open(const struct source *from, struct diag *diag, struct swap_source **ret);
/* NULL is accepted. */
void swap_source_close(struct swap_source *s);

/*
 * Finds the swap devices and compares them with /proc/swaps, before each snapshot. Returns 0 or a
 * negative errno: -ENOTSUP if they were not found, or are not the same (swap_source_refusal()).
 */
int swap_source_begin(struct swap_source *s, const struct system_info *system);

/* These return 0 or a negative errno: -EAGAIN if the devices changed meanwhile. */

/*
 * Sets SWAP_PSS of the processes with PSS from the kernel that lack it; `costs`: also SWAP_RAM of
 * all processes. A process keeps what it has if its entries do not add up to its counter.
 */
int swap_source_read(struct swap_source *s, bool costs, struct snapshot *snapshot);
/*
 * Sets what the swapped pages of each file of shared memory take in RAM. A file that changed
 * meanwhile has no value.
 */
int swap_source_files(struct swap_source *s, struct file_set *set);
/* Swap in use that only the swap cache has: no process and no file. */
int swap_source_cached(struct swap_source *s, uint64_t *ret_bytes);

/*
 * The devices as the last reading found them, for a program that looks at their slots; NULL: their
 * costs are not known.
 */
const struct zmem_swap *swap_source_devices(const struct swap_source *s);

/* The most table entries that a run of the program looked at; a slot counts as 4. */
uint64_t swap_source_work(const struct swap_source *s);

/* Why there is no SWAP_PSS or no SWAP_RAM; NULL: there is. A constant text. */
const char *swap_source_refusal(const struct swap_source *s);
const char *swap_source_cost_refusal(const struct swap_source *s);

#endif
