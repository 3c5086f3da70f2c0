// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * task_counters for kernels from 5.8 on, loaded by libbpf: nothing but what they have, thus no
 * per-CPU sums, which came with 6.2.
 */
#define ZMEM_OLD
#define ZMEM_PROBE_READS
#include "task_counters.bpf.c"
