/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwinds the user stack of a process from registers and a copy of the stack, by the tables of the
 * programs. It works in the helper that has the files (code_reader.h).
 */
#ifndef ZMEM_CODE_UNWIND_H
#define ZMEM_CODE_UNWIND_H

#include "code/code_file.h"
#include "code/code_space.h"
#include "code/libdw.h"
#include "code/stack_message.h"
#include "privilege/helper.h"

#define UNWIND_FRAMES 192

/* By the numbers that images have. */
struct code_files {
	struct code_file *item;
	size_t count, capacity;
};

struct unwinder;

/*
 * In a request, messages follow each other, each at a multiple of 8. In the answer, each stack has
 * its struct unwound as far as it has addresses.
 */
#define UNWIND_BATCH	 48
#define UNWIND_BYTES	 (HELPER_DATA - 8)
#define unwind_size(len) ((sizeof(struct zmem_grow_stack) + (len) + 7) & ~(size_t)7)

/* The addresses of a stack, the innermost first; of callers the byte before the return address. */
struct unwound {
	uint32_t count;
	uint32_t truncated; /* 1: the copy ended before the stack did */
	uint64_t ip[UNWIND_FRAMES];
};

_Static_assert(UNWIND_BATCH * sizeof(struct unwound) <= HELPER_DATA, "an answer fits");

/* `space` and `files` outlive it. Returns 0 or -ENOMEM. */
int unwinder_new(const struct libdw *dw, const struct code_space *space,
		 const struct code_files *files, struct unwinder **ret);
/* Returns 0, or -ENODATA if no frame is known. */
int unwinder_run(struct unwinder *u, const struct zmem_grow_stack *m, struct unwound *ret);
void unwinder_free(struct unwinder *u);

#endif
