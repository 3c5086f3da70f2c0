/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the cached files of the machine by BPF (bpf/files.bpf.c). */
#ifndef ZMEM_SOURCE_FILES_SOURCE_H
#define ZMEM_SOURCE_FILES_SOURCE_H

#include "base/diag.h"
#include "model/files.h"
#include "proc/procfs.h"

struct files_source;

/* Loads the program. Returns 0, or a negative errno and a note why. */
int files_source_open(struct diag *diag, struct files_source **ret);
/* NULL is accepted. */
void files_source_close(struct files_source *s);
/*
 * Reads all files into the set, which is cleared before. Returns 0 or a negative errno: -EAGAIN if
 * file systems came and went at every try, -ENOTSUP if the kernel's lists are not as we know them.
 */
int files_source_read(struct files_source *s, const struct procfs *proc, struct file_set *set);
/*
 * Sums over all files; `cache`: also of those that are not shared memory. Returns 0 or a negative
 * errno as above.
 */
int files_source_sum(struct files_source *s, bool cache, struct machine_files *ret);
/* The files of shared memory and tmpfs of the last sum. */
struct file_set *files_source_shmem(struct files_source *s);
/*
 * Lists the files of shared memory and tmpfs with so many bytes in RAM and swap, with their owners
 * (struct cached_file). *ret is valid until the next call. Returns 0 or a negative errno as above.
 */
int files_source_large(struct files_source *s, const struct procfs *proc, uint64_t least,
		       struct file_set **ret);
/* How often the program ran for the last set. */
unsigned files_source_visits(const struct files_source *s);
/* The most inodes and names that it looked at in one run. */
uint32_t files_source_steps(const struct files_source *s);
/*
 * How long to wait before all files are read again, in whole seconds, after the cost of the last
 * files_source_read(): so that reading takes at most a twenty-fifth of a CPU.
 */
uint64_t files_source_pause_us(const struct files_source *s);

#endif
