/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads by BPF which processes have files open or map them, and how much of what they map is in
 * swap (bpf/holders.bpf.c).
 */
#ifndef ZMEM_SOURCE_HOLDERS_SOURCE_H
#define ZMEM_SOURCE_HOLDERS_SOURCE_H

#include "base/diag.h"
#include "model/files.h"

struct holders_source;

/* Loads the programs. Returns 0, or a negative errno and a note why. */
int holders_source_open(struct diag *diag, struct holders_source **ret);
/* NULL is accepted. */
void holders_source_close(struct holders_source *s);

/* The most nodes of trees that one run of the programs looked at so far. */
uint32_t holders_source_steps(const struct holders_source *s);

/*
 * Fills in the holders of the files of the set that are `wanted`. Those of a file that too many
 * VMAs map stay unknown. A process of another pid namespace is not seen: if it maps a file, the
 * holders of this file are marked as hidden. Returns 0 or a negative errno.
 */
int holders_source_read(struct holders_source *s, struct file_set *set);

/* What a process maps of swapped shared memory. */
struct swapped_share {
	pid_t pid;
	bool unknown; /* only its page tables tell */
	uint64_t pages;
};

/*
 * Reads for the files of the set that are in swap how many of the swapped pages each process maps:
 * a list in the order of pids, with each process once, which the source owns until the next call. A
 * process that is not in it maps none. Returns the length of the list or a negative errno: -E2BIG
 * if too many VMAs map a file.
 */
ssize_t holders_source_swapped(struct holders_source *s, struct file_set *set,
			       const struct swapped_share **ret);

#endif
