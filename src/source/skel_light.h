/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * BPF programs loaded by their light skeletons: the kernel itself does what libbpf would, so nobody
 * parses the kernel's BTF in user space.
 */
#ifndef ZMEM_SOURCE_SKEL_LIGHT_H
#define ZMEM_SOURCE_SKEL_LIGHT_H

#include "source/bpf_handle.h"

load_fn skel_light_pss_load;		/* bpf/task_pss.bpf.c */
load_fn skel_light_counters_load;	/* bpf/task_counters.bpf.c */
load_fn skel_light_counters_probe_load; /* bpf/task_counters_probe.bpf.c */

#endif
