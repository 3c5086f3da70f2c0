/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Remembers what was found for stacks of one process: most of them come again. */
#ifndef ZMEM_GROW_RECALL_H
#define ZMEM_GROW_RECALL_H

#include "code/code_space.h"
#include "zmem/grow.h"

/* Zeroed memory is empty. */
struct recall {
	struct recalled *slot;
	size_t used;
};

/*
 * Finds what was remembered for such a stack: where it is now, and the words of the copy that may
 * be return addresses, are the same. Returns true and the value, or false; *ret_key in either case.
 */
bool recall_find(const struct recall *r, const struct code_space *s,
		 const struct zmem_grow_stack *m, uint64_t *ret_key, uint32_t *ret_value);
/* Without memory nothing is remembered. */
void recall_add(struct recall *r, uint64_t key, uint32_t value);
/* When images were added or removed. */
void recall_forget(struct recall *r);
void recall_done(struct recall *r);

#endif
