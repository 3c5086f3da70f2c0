// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * task_counters for kernels from 5.8 on, loaded by libbpf. It uses only what those kernels have, so
 * it has no per-CPU sums (6.2).
 */
#define ZMEM_OLD
#define ZMEM_PROBE_READS
#include "task_counters.bpf.c"
