/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory of GPUs and dma-bufs by process. The iterator over open files says which processes have
 * some; workers read their fdinfo. Without BPF each process is asked, by the links in its fd.
 */
#ifndef ZMEM_COLLECT_GPU_READ_H
#define ZMEM_COLLECT_GPU_READ_H

#include "enrich/enrich.h"
#include "model/snapshot.h"

struct gpu_reader;

/*
 * Looks which drivers there are and loads what is needed for them; `bpf`: may programs be loaded.
 * Returns 0, or a negative errno without free files or memory.
 */
int gpu_reader_open(const struct procfs *proc, bool bpf, struct gpu_reader **ret);
/* Whether there is a driver; whether BPF says which processes have such files. */
void gpu_reader_state(const struct gpu_reader *g, bool *ret_there, bool *ret_bpf);
/*
 * Asks libnvidia-ml. Returns the number of processes that use devices of NVIDIA, -ENODEV if there
 * is no driver of theirs, or another negative errno and why.
 */
ssize_t gpu_reader_try_nvidia(struct gpu_reader *g, const char **ret_why);
/* NULL is accepted. */
void gpu_reader_close(struct gpu_reader *g);

/*
 * Sets the counters and the parts of all processes, or the reason why not: there is no such driver.
 * The counter of a process with a client of which no size is known, or that could not be read,
 * stays unknown. Returns 0 or a negative errno without free files or memory.
 */
int gpu_reader_read(struct gpu_reader *g, struct proc_pool *pool, struct snapshot *s);

#endif
