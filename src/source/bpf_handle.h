/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A BPF object in the kernel, and what is done with it. Whoever loaded it (light.h, full.h) is not
 * known here; callers see no skeleton and no object of libbpf's.
 */
#ifndef ZMEM_SOURCE_BPF_HANDLE_H
#define ZMEM_SOURCE_BPF_HANDLE_H

#include <stdint.h>

#include "zmem/setup.h"

/* Zeroed memory is a closed one. */
struct bpf_handle {
	int iter_fd;	    /* the iter/task program */
	int setup_fd;	    /* cpu_offset_setup, to be run for each possible CPU; 0: none */
	int calibration_fd; /* a map; only task_pss has it, else 0 */
	void *object;	    /* what keeps it, to be destroyed */
	void (*destroy)(void *object);
};

/*
 * A way to load: for `cpus` possible CPUs; `cipher` is what addresses in records are enciphered
 * with. Returns 0 or a negative errno.
 */
typedef int load_fn(uint32_t cpus, const struct zmem_scramble *scramble, struct bpf_handle *ret);

/* Runs one of the SEC("syscall") programs. Returns what it returned, or a negative errno. */
int bpf_handle_run(int prog_fd, void *args, uint32_t size);
void bpf_handle_close(struct bpf_handle *l);

#endif
