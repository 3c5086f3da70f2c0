/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Maps of BPF, by their ids: which of them no process has a descriptor of, and what holds those. */
#ifndef ZMEM_SOURCE_BPF_MAPS_H
#define ZMEM_SOURCE_BPF_MAPS_H

#include "base/arena.h"
#include "model/descriptors.h"
#include "proc/procfs.h"

/* So many maps are looked at. */
#define BPF_MAPS_MAX 8192

/*
 * The id of a map and its size, from the fdinfo of a descriptor ("4711/fdinfo/5"). The kernel
 * computes the size for fdinfo alone (map_mem_usage, since Linux 6.4; an estimate since 5.11, which
 * is 0 for rings). False if it may not be read, or the descriptor is of something else.
 */
bool bpf_maps_size(const struct procfs *proc, const char *fdinfo, uint64_t *ret_id, uint64_t *ret);

/*
 * Lists all maps: their sizes, and a file of /sys/fs/bpf and a program that holds each. It needs
 * CAP_SYS_ADMIN; without it, and if there are too many, ret->reason says so. Memory is of the
 * arena. Returns 0 or -ENOMEM.
 */
int bpf_maps_list(const struct procfs *proc, struct arena *arena, struct kernel_maps *ret);

#endif
