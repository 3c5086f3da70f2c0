// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* task_counters for kernels before 6.2, which lack bpf_rdonly_cast(): it uses probe reads. */
#define ZMEM_PROBE_READS
#include "task_counters.bpf.c"
