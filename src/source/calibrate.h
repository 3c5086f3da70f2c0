/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The user side of bpf/calibrate.bpf.h: two pages whose content the kernel side looks for. */
#ifndef ZMEM_SOURCE_CALIBRATE_H
#define ZMEM_SOURCE_CALIBRATE_H

#include "source/reader.h"
#include "proc/procfs.h"

/*
 * Has the kernel side find where the direct map and the array of struct page are; `map_fd` is that
 * of bpf/calibrate.bpf.h, and nobody else reads yet. Returns 0, or a negative errno and in *ret_why
 * which check failed: a constant text.
 */
int calibrate(int map_fd, const struct reader_from *from, const struct procfs *proc,
	      const char **ret_why);

#endif
