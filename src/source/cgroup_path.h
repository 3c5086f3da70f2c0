/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Paths of cgroups of the names that BPF programs wrote (bpf/cgroup_path.bpf.h). */
#ifndef ZMEM_SOURCE_CGROUP_PATH_H
#define ZMEM_SOURCE_CGROUP_PATH_H

#include "proc/oom_line.h"
#include "zmem/oom.h"

/*
 * The path of a cgroup from the root of its hierarchy, and likewise of the one with the
 * memory controller that it has (NULL: not wanted), of names that BPF wrote.
 */
enum zmem_oom_path_status cgroup_path_read(const struct zmem_oom_path *from, const __u64 *words,
					   char ret[OOM_CGROUP_MAX],
					   char ret_memory[OOM_CGROUP_MAX]);

#endif
