/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Kernel memory that processes hold by their descriptors, by what it is. What several processes
 * hold, by fork or because a descriptor was passed on, is divided by them: sums count it once.
 *
 * Memory that a process maps as well, such as a ring for packets, is in its RSS: it is `mapped`
 * here, and in no sum.
 */
#ifndef ZMEM_MODEL_DESCRIPTORS_H
#define ZMEM_MODEL_DESCRIPTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "zmem/descriptors.h"

#define KERNEL_KINDS ZMEM_DESCRIPTOR_KINDS

struct kernel_kind_info {
	const char *key;   /* in JSON: "packet_ring" */
	const char *title; /* in sentences: "packet rings" */
};

extern const struct kernel_kind_info kernel_kind_table[KERNEL_KINDS];

/* What a process, or a group, holds of one kind. */
struct kernel_share {
	uint64_t bytes;
	uint64_t mapped;      /* other bytes */
	uint64_t unmarked;    /* of `bytes`: pages that have no mark of the kernel; not recorded */
	uint32_t descriptors; /* that lead to it */
	enum zmem_descriptor_kind kind;
};

struct kernel_shares {
	struct kernel_share kind[KERNEL_KINDS];
	uint64_t own; /* of a process: what small objects only it holds */
};

/* Nothing of each kind. */
void kernel_shares_clear(struct kernel_shares *s);
/* Adds what another process holds. NULL: none. */
void kernel_shares_add(struct kernel_shares *to, const struct kernel_shares *more);
uint64_t kernel_shares_sum(const struct kernel_shares *s);

/* One of the largest objects. */
struct kernel_object {
	uint64_t bytes; /* all of it */
	uint64_t mapped;
	uint64_t unmarked;
	pid_t pid;	    /* the lowest of those that hold it */
	uint32_t fd;	    /* its lowest descriptor */
	uint32_t processes; /* that hold it */
	enum zmem_descriptor_kind kind;
};

#define KERNEL_OBJECTS_MAX 256
#define KERNEL_OWN_MAX	   8 /* of a process */

/*
 * A map of BPF that no process has a descriptor of: a file of bpffs, a program or another map
 * holds it.
 */
struct kernel_map {
	uint32_t id;
	bool sized; /* `bytes` is known */
	uint64_t bytes;
	char name[16];	  /* empty: it has none */
	char program[16]; /* the name of one that uses it; empty: none was found */
	const char *path; /* of a file that holds it, any bytes; NULL: none was found */
};

struct kernel_maps {
	bool known;
	const char *reason;	       /* why not; NULL: it is, or was not asked for */
	const struct kernel_map *item; /* the largest first */
	size_t count;
	uint64_t bytes; /* of all that have a size */
};

/* What a snapshot has beside the shares of its processes. */
struct kernel_held {
	const char *reason; /* why nothing is known; NULL: it is, or was not asked for */
	bool known;
	uint32_t left_out;		  /* processes that were not read for lack of time */
	const struct kernel_object *item; /* the largest first */
	size_t count;
	/* The largest of each process, which is `pid` of them; by pid, then the largest first. */
	const struct kernel_object *own;
	size_t owns;
	struct kernel_shares all; /* the sum of all processes */
	struct kernel_maps unheld;
};

/* The largest objects of a process, and how many. */
const struct kernel_object *kernel_objects_of(const struct kernel_held *held, pid_t pid,
					      size_t *ret_count);

#endif
