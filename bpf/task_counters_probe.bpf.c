// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* task_counters for kernels without bpf_rdonly_cast() (before 6.2): the same through probe reads.
 */
#define ZMEM_PROBE_READS
#include "task_counters.bpf.c"
