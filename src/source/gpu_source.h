/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads by BPF which processes have files of GPUs or dma-bufs open (bpf/gpu.bpf.c). */
#ifndef ZMEM_SOURCE_GPU_SOURCE_H
#define ZMEM_SOURCE_GPU_SOURCE_H

#include <sys/types.h>

#include "zmem/files.h"

struct gpu_source;

/* Loads the programs. Returns 0 or a negative errno. */
int gpu_source_open(struct gpu_source **ret);
/* NULL is accepted. */
void gpu_source_close(struct gpu_source *g);

/*
 * The processes: a list that the source owns until the next call, in which one may be twice.
 * Returns its length or a negative errno.
 */
ssize_t gpu_source_read(struct gpu_source *g, const pid_t **ret);
/*
 * All dma-bufs of the machine (bpf/dmabuf.bpf.c) in the order of inodes, likewise. -EOPNOTSUPP
 * before Linux 6.16.
 */
ssize_t gpu_source_buffers(struct gpu_source *g, const struct zmem_dmabuf **ret);

#endif
