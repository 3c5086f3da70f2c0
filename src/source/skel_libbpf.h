/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The same programs loaded by libbpf. That takes ten times as long and parses the kernel's BTF in
 * user space, so it is done only where a light skeleton cannot be loaded, and to learn why a
 * program is refused.
 */
#ifndef ZMEM_SOURCE_SKEL_LIBBPF_H
#define ZMEM_SOURCE_SKEL_LIBBPF_H

#include "source/bpf_handle.h"

/*
 * Under lockdown=confidentiality: every light skeleton clears its stack with
 * bpf_probe_read_kernel() (libbpf, src/gen_loader.c, bpf_gen__init), which is refused there; our
 * program needs none.
 */
load_fn skel_libbpf_counters_load;
load_fn skel_libbpf_pss_load;
/* bpf/task_counters_old.bpf.c: what the light one needs came with 5.19. */
load_fn skel_libbpf_counters_old_load;

enum skel_libbpf_object {
	SKEL_LIBBPF_PSS,
	SKEL_LIBBPF_COUNTERS,
	SKEL_LIBBPF_COUNTERS_PROBE,
	SKEL_LIBBPF_COUNTERS_OLD,
};

/*
 * Loads once more with the verifier's log on. Returns what the kernel had to say, to be freed, or
 * NULL if it loads that way or there is nothing to tell.
 */
char *skel_libbpf_explain(enum skel_libbpf_object which);

#endif
