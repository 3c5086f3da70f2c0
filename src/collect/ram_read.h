/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where the machine's RAM is (model/ram.h): a census of its frames, else counters. */
#ifndef ZMEM_COLLECT_RAM_READ_H
#define ZMEM_COLLECT_RAM_READ_H

#include "collect/collect_spec.h"
#include "enrich/enrich.h"
#include "model/snapshot.h"
#include "proc/procfs.h"

struct ram_reader;

/*
 * Loads the program if this process may; else ram_reader_read() says why there is no census.
 * Returns 0 or a negative errno without files or memory.
 */
int ram_reader_open(const struct source *source, const struct procfs *proc,
		    struct ram_reader **ret);
/* NULL is accepted. */
void ram_reader_close(struct ram_reader *r);

/*
 * Sets s->system.ram, which is valid until the next call. `s` has the counters of now. With
 * RAM_SUMS it is the last one until its CPU time allows another one; it has no cgroups, and of
 * parts what the frames tell: the files with names of allocations hold locks of the kernel. The
 * pool reads which processes have pages of drivers; NULL: nothing does. Returns 0 or a negative
 * errno without files or memory.
 */
int ram_reader_read(struct ram_reader *r, const struct procfs *proc, struct proc_pool *pool,
		    const struct collect_spec *spec, struct snapshot *s);

/* See census_source_owner(); without a census, or a reader, no owner is known. */
int ram_reader_owner(struct ram_reader *r, uint64_t owner, char ret[OOM_CGROUP_MAX]);

#endif
