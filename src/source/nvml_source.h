/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory of NVIDIA's GPUs by process: what libnvidia-ml calls usedGpuMemory. A helper loads the
 * library, a program of its own (src/nvml.c).
 */
#ifndef ZMEM_SOURCE_NVML_SOURCE_H
#define ZMEM_SOURCE_NVML_SOURCE_H

#include <stddef.h>
#include <sys/types.h>

#include "model/gpu.h"
#include "source/nvml_protocol.h"

struct nvml_source;

/* Starts nothing yet. Returns 0 or -ENOMEM. */
int nvml_source_open(struct nvml_source **ret);
/* NULL is accepted. */
void nvml_source_close(struct nvml_source *n);

/*
 * What each process uses on each device, in the order of pids: a list that the source owns until
 * the next call. The values are of processes, so a part has no id and one holder. Returns their
 * number; or a negative errno and why, as long as the source is there. After one that took long, or
 * ended the helper, it is asked again a minute later.
 */
ssize_t nvml_source_read(struct nvml_source *n, const struct gpu_part **ret, const char **ret_why);

/*
 * Parses the bytes that the program answered. Returns the number of parts, -EBADMSG if they are
 * invalid, or -EIO if the library failed; then `why` has words.
 */
#define NVML_WHY 192
ssize_t nvml_parse(const void *data, size_t len, struct gpu_part *ret, char why[NVML_WHY]);

#endif
