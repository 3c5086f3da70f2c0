/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Kernel memory that processes hold by their descriptors (bpf/descriptors.bpf.c). */
#ifndef ZMEM_SOURCE_DESCRIPTORS_SOURCE_H
#define ZMEM_SOURCE_DESCRIPTORS_SOURCE_H

#include "base/diag.h"
#include "model/snapshot.h"
#include "proc/procfs.h"
#include "zmem/held.h"

struct descriptors_source;
struct source;

/*
 * `from` knows where the kernel has its pages, if PSS comes from page tables; or NULL. Without it
 * pages of perf rings are not found in RSS. Returns 0, or a negative errno and a note why.
 */
int descriptors_source_open(const struct source *from, struct diag *diag,
			    struct descriptors_source **ret);
/*
 * Readings tell which of these maps of BPF no process has a descriptor of. They were listed before:
 * a map that a process makes meanwhile is not among them. They are borrowed.
 */
void descriptors_source_set_maps(struct descriptors_source *s, const struct kernel_maps *maps);
/* NULL is accepted. */
void descriptors_source_close(struct descriptors_source *s);

/*
 * Sets KERNEL and the shares of all processes, and snapshot->kernel. It takes at most a second of
 * CPU time: then the processes with the largest RSS are read first, and the others have the status
 * PSS_TIMEOUT. Returns 0 or a negative errno.
 */
int descriptors_source_read(struct descriptors_source *s, const struct procfs *proc,
			    struct snapshot *snapshot);

/* Processes with the number of their group, from 1 on, and the files that were met mapped. */
struct descriptors_asked {
	struct process *const *process;
	const uint32_t *group;
	size_t count;
	const struct zmem_held_file *mapped; /* sorted by address */
	size_t mapped_count;
};

/*
 * What ends with each group, by the last reading: adds its bytes to ret[group]. An object counts if
 * all references to it are descriptors and mappings of the group. Returns 0 or -ENOMEM.
 */
int descriptors_source_freed(struct descriptors_source *s, const struct descriptors_asked *asked,
			     uint64_t *ret);

#endif
