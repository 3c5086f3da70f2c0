/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * BPF programs loaded by their light skeletons: the kernel itself does what libbpf would, so nobody
 * parses the kernel's BTF in user space. Each skeleton has one wrapper, and callers see only this.
 */
#ifndef ZMEM_SOURCE_LIGHT_H
#define ZMEM_SOURCE_LIGHT_H

#include <stdint.h>

#include "zmem/setup.h"

/* A loaded object; zeroed memory is a closed one. */
struct light {
	int iter_fd;	    /* the iter/task program */
	int setup_fd;	    /* cpu_offset_setup, to be run for each possible CPU; 0: none */
	int calibration_fd; /* a map; only task_pss has it, else 0 */
	void *skel;
	void (*destroy)(void *skel);
};

/*
 * Loads for `cpus` possible CPUs; `cipher` is what addresses in records are enciphered with.
 * Returns 0 or a negative errno.
 */
typedef int light_load_fn(uint32_t cpus, const struct zmem_cipher *cipher, struct light *ret);

light_load_fn light_pss_load;		 /* bpf/task_pss.bpf.c */
light_load_fn light_counters_load;	 /* bpf/task_counters.bpf.c */
light_load_fn light_counters_probe_load; /* bpf/task_counters_probe.bpf.c */

/* Runs one of the SEC("syscall") programs. Returns what it returned, or a negative errno. */
int light_run(int prog_fd, void *args, uint32_t size);
void light_close(struct light *l);

#endif
