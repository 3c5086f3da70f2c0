/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Loads the BPF objects of bpf/ into the kernel. Callers see neither a skeleton nor a libbpf
 * object.
 */
#ifndef ZMEM_LOAD_BPF_LOAD_H
#define ZMEM_LOAD_BPF_LOAD_H

#include <stddef.h>
#include <stdint.h>

#include "load/bpf_diagnose.h"
#include "zmem/setup.h"

enum bpf_object_id {
	OBJECT_PSS,
	OBJECT_PSS_MEMOS, /* the same with memos (bpf/memo.bpf.h) */
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
	OBJECT_PEAK, /* the same */
	OBJECT_PEAK_PROBE,
	OBJECT_WAITS, /* the same; libbpf alone loads it */
	OBJECT_ENDED, /* the same */
	OBJECT_ENDED_OLD,
	OBJECT_CENSUS, /* counts page frames (bpf/census.bpf.c) */
	OBJECT_CENSUS_OLD,
	OBJECT_FILES,	    /* lists inodes (bpf/files.bpf.c) */
	OBJECT_HOLDERS,	    /* says which processes hold files (bpf/holders.bpf.c) */
	OBJECT_GPU,	    /* says which processes hold files of GPUs (bpf/gpu.bpf.c) */
	OBJECT_DESCRIPTORS, /* what descriptors hold (bpf/descriptors.bpf.c) */
	OBJECT_DESCRIPTORS_OLD,
	OBJECT_DMABUF, /* lists dma-bufs (bpf/dmabuf.bpf.c); a light skeleton alone */
	/*
	 * Reads swap slots (bpf/swap.bpf.c). As a light skeleton alone: the kernel finds types in
	 * modules, such as zram's, which libbpf may not read without more capabilities.
	 */
	OBJECT_SWAP,
	OBJECT_FREED,	  /* what becomes free with a group (bpf/freed.bpf.c); likewise */
	OBJECT_HELD,	  /* what holds files of shared memory (bpf/held.bpf.c); likewise */
	OBJECT_PAGES,	  /* looks at pages one by one (bpf/pages.bpf.c); a light skeleton alone */
	OBJECT_ARGUMENTS, /* reads command lines (bpf/arguments.bpf.c); likewise */
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
	LOADER_EITHER, /* a light skeleton or, where that does not work, libbpf */
};

/* The programs and maps of an object that callers use. */
enum bpf_part {
	BPF_ITER,	 /* the iterator of an object, or the program on the tracepoint */
	BPF_SETUP,	 /* cpu_offset_setup, to be run for each possible CPU */
	BPF_CALIBRATION, /* a map; an object that does not walk pages has none */
	BPF_LANES,	 /* memo_lanes; an object without memos has none */
	BPF_LAYOUT,	 /* a map of struct zmem_layout; likewise of an object that does not walk */
	BPF_RING,	 /* a map of messages */
	BPF_ANSWERS,	 /* a map of one struct, to be mapped */
	BPF_RUN,	 /* the raw_tp program to be run for an answer */
	/* of OBJECT_OOM */
	BPF_OOM_SETUP, /* to be run once */
	BPF_OOM_BEGIN, /* around oom_kill_process(); an object may be loaded without them */
	BPF_OOM_END,
	BPF_LARGE,   /* a map of pids, to be mapped */
	BPF_OVER,    /* a map of sums, likewise */
	BPF_SIGNALS, /* the program on signal_generate */
	/* of OBJECT_CENSUS: name an owner of frames, and the device of a page pool */
	BPF_NAME,
	BPF_NAME_POOL,
	/* of OBJECT_HOLDERS, the first one also of OBJECT_GPU and OBJECT_HELD: iterators */
	BPF_OPEN_FILES,
	BPF_MMS,
	/* of OBJECT_SWAP; BPF_WANTED also of OBJECT_PAGES */
	BPF_SYMBOLS, /* to be run once */
	BPF_FIND,    /* finds the swap devices */
	BPF_SCAN,    /* counts slots of the swap cache */
	BPF_WANTED,  /* a map: what is known of each process to walk */
	/* of OBJECT_FREED: maps of pages, of open files and of swap devices */
	BPF_PAGES,
	BPF_HELD, /* also of OBJECT_HELD */
	BPF_DEVICES,
	/* of OBJECT_HELD: its other programs, and maps */
	BPF_SEGMENTS_RUN,
	BPF_CHECK,
	BPF_TABLES,
	BPF_SPACES,
	BPF_NAMED,
	BPF_MOUNTED,
	BPF_SEGMENTS,
	BPF_EDGES,
	BPF_ONCE,
	/* of OBJECT_GROW: maps */
	BPF_SETTINGS,
	BPF_TARGETS,
	BPF_ON_CPU,
	BPF_WAKE,
	BPF_HEAP_BLOCKS,
	BPF_HEAP_GAPS,
	BPF_HEAP_CPU,
	/* of OBJECT_PEAK: a map, and the programs on its tracepoints */
	BPF_PROCESSES,
	BPF_PEAK_RSS,
	BPF_PEAK_EXEC,
	BPF_PEAK_FORK,
	BPF_PEAK_EXIT,
	/* of OBJECT_WAITS: maps, and the programs around reclaim and on reads from swap */
	BPF_WAITS,
	BPF_BEGUN,
	BPF_LOST,
	BPF_RECLAIM_BEGIN,
	BPF_RECLAIM_END,
	BPF_SWAPIN,
	BPF_SWAPIN_OLD,
	/* of OBJECT_ENDED, beside BPF_RUN and BPF_SETTINGS: maps, and the two programs of which one
	 * is loaded */
	BPF_SUMS,
	BPF_PATHS,
	BPF_REST,
	BPF_ENDED_TRACEPOINT,
	BPF_ENDED_TASKSTATS,
	BPF_PARTS,
	BPF_SIZED = BPF_PARTS, /* a map that loading alone deals with */
};

/* A loaded object. Zeroed memory is a closed one. */
struct bpf_handle {
	int fd[BPF_PARTS]; /* 0: the object has no such part */
	void *object;	   /* owns the descriptors */
	void (*destroy)(void *object);
	void *answers; /* the struct in BPF_ANSWERS, mapped; NULL: there is no such map */
	size_t answers_size;
};

/* The entries of maps; 0: as they are. */
struct bpf_sizes {
	uint32_t memos;	  /* of all readers */
	uint32_t targets; /* of on_cpu, for each CPU; the place of a CPU is then its number */
	uint32_t ring;	  /* bytes */
	uint32_t heap;	  /* of heap_blocks */
	uint32_t pages;	  /* of OBJECT_FREED */
	bool unbounded;	  /* the verifier may take as long as it wants (load_limit.h) */
	/* Programs that are left out, because this kernel has no such event; NULL: none. */
	const char *const *without;
};

/* The highest number of a possible CPU, plus one; numbers may have gaps. */
uint32_t bpf_cpu_numbers(void);

/*
 * Loads with maps of these sizes (NULL: as they are), finds the per-CPU offsets (bpf/percpu.bpf.h)
 * and maps the answers. Addresses in records have a new key. Returns 0 or a negative errno; libbpf
 * may find out what is missing (NULL: not wanted). bpf_handle_close() in either case.
 */
int bpf_load(enum bpf_object_id id, enum bpf_loader loader, const struct bpf_sizes *sizes,
	     struct bpf_handle *ret, struct bpf_missing *missing);
/* The same with a note of `subject` why it failed. */
int bpf_load_noted(const char *subject, enum bpf_object_id id, enum bpf_loader loader,
		   const struct bpf_sizes *sizes, struct diag *diag, struct bpf_handle *ret);

/*
 * Loads once more by libbpf with the verifier's log on, without these programs (NULL: all). Returns
 * the log, to be freed, or NULL if the object loads or the log is empty.
 */
char *bpf_load_explain(enum bpf_object_id id, const char *const *without);

/* The descriptor of any program of an object that libbpf loaded; 0: it has none. */
int bpf_handle_program(const struct bpf_handle *handle, const char *name);

/* Empties a map with keys of at most 64 bits. Returns 0 or a negative errno. */
int bpf_map_clear(int fd);
/* Runs a raw_tp program once. Returns 0 or a negative errno. */
int bpf_program_run(int prog_fd);
/* Runs a SEC("syscall") program. Returns the program's result, or a negative errno. */
int bpf_handle_run(int prog_fd, void *args, uint32_t size);
void bpf_handle_close(struct bpf_handle *handle);

#endif
