/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files of shared memory that end with groups of processes (bpf/held.bpf.c): unnamed files, System
 * V segments, and all files of a tmpfs that ends. A file that a process outside of the group holds
 * does not end. With a reference that no process explains it is not known whether it does.
 */
#ifndef ZMEM_SOURCE_HELD_SOURCE_H
#define ZMEM_SOURCE_HELD_SOURCE_H

#include "base/diag.h"
#include "model/files.h"
#include "source/source.h"
#include "zmem/held.h"

struct held_source;

/* The process: its number here, and its groups; ZMEM_HELD_MIXED if it is in none. */
struct held_process {
	pid_t pid;
	struct zmem_held_want groups;
};

/* What ends with a group. */
struct held_sum {
	uint64_t bytes;
	bool unknown; /* a file has a reference that no holder explains */
	bool raced;   /* holders came or went meanwhile */
};

/* Returns 0, or a negative errno and a note why. */
int held_source_open(struct diag *diag, struct held_source **ret);
/* NULL is accepted. */
void held_source_close(struct held_source *h);

/*
 * These return 0 or a negative errno. held_source_begin() meets all holders but mappings. After it
 * the caller meets the mappings, in a map of struct zmem_held_file. Then held_source_end() adds
 * what ends with each of the groups 1 to `groups` to ret[group].
 *
 * `tmpfs`: all files of shared memory; NULL: then files that no process has open are left out. Of
 * files without an open descriptor, what their pages in swap take in RAM comes from there as well.
 */
int held_source_begin(struct held_source *h, const struct held_process *process, size_t count);
int held_source_end(struct held_source *h, int mappings_fd, const struct file_set *tmpfs,
		    uint32_t groups, struct held_sum *ret);
/* The files that the last reading met mapped, by address: `maps`, and by which group. */
const struct zmem_held_file *held_source_mapped(const struct held_source *h, size_t *ret_count);
/* There was no room for all holders: what ends is not known. */
bool held_source_is_full(const struct held_source *h);

#endif
