/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Loads the BPF objects of bpf/ into the kernel. Callers see neither a skeleton nor a libbpf
 * object.
 */
#ifndef ZMEM_LOAD_BPF_LOAD_H
#define ZMEM_LOAD_BPF_LOAD_H

#include <stdint.h>

#include "load/bpf_diagnose.h"
#include "zmem/setup.h"

enum bpf_object_id {
	OBJECT_PSS,
	OBJECT_PSS_PROBE,
	OBJECT_PSS_OLD,
	OBJECT_COUNTERS,
	OBJECT_COUNTERS_PROBE,
	OBJECT_COUNTERS_OLD,
	OBJECT_OOM, /* these three are on a tracepoint, and no iterator */
	OBJECT_OOM_PROBE,
	OBJECT_OOM_OLD,
	OBJECT_GROW, /* the same; several programs */
	OBJECT_GROW_PROBE,
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

/* The program that lists inodes (bpf/files.bpf.c). */
struct bpf_files_handle {
	int prog_fd;
	int map_fd;   /* one struct zmem_files, to be mapped */
	void *object; /* owns the descriptors */
	void (*destroy)(void *object);
};

/* The programs that say who holds files (bpf/holders.bpf.c). */
struct bpf_holders_handle {
	int open_fd, mm_fd; /* iterators, to be attached */
	int prog_fd;
	int map_fd; /* one struct zmem_mappers, to be mapped */
	void *object;
	void (*destroy)(void *object);
};

/* The programs that read swap slots (bpf/swap.bpf.c). */
struct bpf_swap_handle {
	int iter_fd;	/* an iterator, to be attached */
	int setup_fd;	/* as in struct bpf_handle */
	int symbols_fd; /* to be run once */
	int find_fd;	/* finds the swap devices */
	int file_fd;	/* reads a file */
	int scan_fd;	/* counts slots of the swap cache */
	int map_fd;	/* one struct zmem_swap, to be mapped */
	int wanted_fd;	/* a map: what is known of each process to walk */
	void *object;
	void (*destroy)(void *object);
};

/* A loaded object. Zeroed memory is a closed one. */
struct bpf_handle {
	int iter_fd;	    /* the iter/task program, or that of the tracepoint */
	int setup_fd;	    /* cpu_offset_setup, to be run for each possible CPU; 0: none */
	int calibration_fd; /* a map; 0 in an object that does not walk pages */
	int lanes_fd;	    /* memo_lanes; 0 in an object without memos */
	int layout_fd;	    /* a map of struct zmem_layout; 0 in an object that does not walk */
	int view_fd;	    /* oom_setup, to be run once; 0: none */
	int ring_fd;	    /* a map; 0: none */
	void *object;	    /* owns the descriptors */
	void (*destroy)(void *object);
};

/* The entries of maps. */
struct bpf_sizes {
	uint32_t cpus;	/* possible ones */
	uint32_t memos; /* of all readers; at least 1 */
	uint32_t grow;	/* of on_cpu; 0 in an object without it */
	/* Programs that are left out, because this kernel has no such event; NULL: none. */
	const char *const *without;
};

/*
 * Loads with maps of these sizes; `scramble` is the key for addresses in records. Returns 0 or a
 * negative errno. libbpf may find out what is missing.
 */
int bpf_load(enum bpf_object_id id, enum bpf_loader loader, const struct bpf_sizes *sizes,
	     const struct zmem_scramble *scramble, struct bpf_handle *ret,
	     struct bpf_missing *missing);

/*
 * Loads once more by libbpf with the verifier's log on, without these programs (NULL: all). Returns
 * the log, to be freed, or NULL if the object loads or the log is empty.
 */
char *bpf_load_explain(enum bpf_object_id id, const char *const *without);

/* The descriptor of a program or a map of an object that libbpf loaded; 0: it has none. */
int bpf_handle_program(const struct bpf_handle *handle, const char *name);
int bpf_handle_map(const struct bpf_handle *handle, const char *name);

/* These return 0 or a negative errno. */
int bpf_files_load(enum bpf_loader loader, struct bpf_files_handle *ret,
		   struct bpf_missing *missing);
void bpf_files_close(struct bpf_files_handle *handle);
int bpf_holders_load(enum bpf_loader loader, struct bpf_holders_handle *ret,
		     struct bpf_missing *missing);
void bpf_holders_close(struct bpf_holders_handle *handle);
int bpf_swap_load(uint32_t cpus, struct bpf_swap_handle *ret);
void bpf_swap_close(struct bpf_swap_handle *handle);
/* Runs one of their raw_tp programs once. Returns 0 or a negative errno. */
int bpf_program_run(int prog_fd);

/* Runs a SEC("syscall") program. Returns the program's result, or a negative errno. */
int bpf_handle_run(int prog_fd, void *args, uint32_t size);
void bpf_handle_close(struct bpf_handle *handle);

#endif
