/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwinds the user stack of a process from registers and a copy of the stack, by the tables of the
 * programs. What was unwound once is remembered: most stacks come again.
 */
#ifndef ZMEM_GROW_UNWIND_H
#define ZMEM_GROW_UNWIND_H

#include "grow/address_space.h"
#include "grow/libdw.h"
#include "zmem/grow.h"

#define UNWIND_FRAMES 192

struct unwinder;

/* The addresses of a stack, the innermost first; of callers the byte before the return address. */
struct unwound {
	uint64_t ip[UNWIND_FRAMES];
	size_t count;
	bool truncated; /* the copy ended before the stack did */
};

int unwinder_new(const struct libdw *dw, struct address_space *space, struct file_table *files,
		 struct unwinder **ret);
/*
 * Finds what was remembered for such a stack: where it is now, and the words of the copy that may
 * be return addresses, are the same. Returns true and the value, or false; *ret_key in either case.
 */
bool unwinder_recall(struct unwinder *u, const struct zmem_grow_stack *m, uint64_t *ret_key,
		     uint32_t *ret_value);
void unwinder_remember(struct unwinder *u, uint64_t key, uint32_t value);
/* Returns 0 or a negative errno. */
int unwinder_run(struct unwinder *u, const struct zmem_grow_stack *m, struct unwound *ret);
void unwinder_free(struct unwinder *u);

#endif
