/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Code that processes make while they run: its addresses are in no file, and its names are in the
 * perf maps that runtimes write. A map belongs to one address space. A child also executes what its
 * parent has made.
 */
#ifndef ZMEM_CODE_JIT_H
#define ZMEM_CODE_JIT_H

#include "code/address_space.h"
#include "code/perf_map.h"
#include "model/stack_table.h"

struct jit_map {
	uint32_t parent;	    /* the number of another map; 0: none */
	struct code_reader *reader; /* that has the perf map open; NULL: none was found */
	int start;		    /* of the reader's helper */
	enum growth_out reason;	    /* why it has no names, as in struct program_file */
	struct code_name *item;	    /* by address */
	size_t count, capacity;
	struct arena names;
};

#define JIT_NAMED UINT32_MAX /* of code that stands for a name, in place of an address */

/* Numbers begin with 1. */
struct jit_maps {
	struct jit_map *item;
	size_t count, capacity;
};

/* Returns 0 or a negative errno: -ENOSPC. */
int jit_maps_add(struct jit_maps *t, uint32_t parent, uint32_t *ret);
/* Looks for the file of a process, which may have another one by now. Keeps the old one if not. */
void jit_maps_open(struct jit_maps *t, uint32_t number, const struct address_space *s);
/* Names the code of the table, by the files as they are now. Returns 0 or -ENOMEM. */
int jit_maps_read(struct jit_maps *t, const struct stack_table *stacks);
/*
 * The function that contains the address; NULL if none is known, and then *ret_reason tells why.
 * Valid until the next reading.
 */
const char *jit_maps_find(const struct jit_maps *t, uint32_t number, uint64_t address,
			  uint64_t *ret_start, enum growth_out *ret_reason);
void jit_maps_done(struct jit_maps *t);

#endif
