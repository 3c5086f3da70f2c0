/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Loads the BPF objects of bpf/ into the kernel. Callers see neither a skeleton nor a libbpf
 * object.
 */
#ifndef ZMEM_SOURCE_BPF_LOAD_H
#define ZMEM_SOURCE_BPF_LOAD_H

#include <stdint.h>

#include "zmem/setup.h"

enum bpf_object_id {
	OBJECT_PSS,
	OBJECT_PSS_PROBE,
	OBJECT_PSS_OLD,
	OBJECT_COUNTERS,
	OBJECT_COUNTERS_PROBE,
	OBJECT_COUNTERS_OLD,
};

enum bpf_loader {
	/* The kernel does what libbpf would do: nothing parses the kernel's BTF in user space. */
	LOADER_LIGHT,
	/*
	 * libbpf takes ten times as long. It is for lockdown=confidentiality, where every light
	 * skeleton is refused because it clears its stack with bpf_probe_read_kernel() (libbpf,
	 * src/gen_loader.c, bpf_gen__init), and for kernels without light skeletons (before 5.19).
	 */
	LOADER_LIBBPF,
};

/* A loaded object. Zeroed memory is a closed one. */
struct bpf_handle {
	int iter_fd;	    /* the iter/task program */
	int setup_fd;	    /* cpu_offset_setup, to be run for each possible CPU; 0: none */
	int calibration_fd; /* a map; 0 in an object that does not walk pages */
	void *object;	    /* owns the descriptors */
	void (*destroy)(void *object);
};

/*
 * Loads for `cpus` possible CPUs; `scramble` is the key for addresses in records. Returns 0 or a
 * negative errno.
 */
int bpf_load(enum bpf_object_id id, enum bpf_loader loader, uint32_t cpus,
	     const struct zmem_scramble *scramble, struct bpf_handle *ret);

/*
 * Loads once more by libbpf with the verifier's log on. Returns the log, to be freed, or NULL if
 * the object loads or the log is empty.
 */
char *bpf_load_explain(enum bpf_object_id id);

/* Runs a SEC("syscall") program. Returns the program's result, or a negative errno. */
int bpf_handle_run(int prog_fd, void *args, uint32_t size);
void bpf_handle_close(struct bpf_handle *handle);

#endif
