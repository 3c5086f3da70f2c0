/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a report shows of an address: its function, its file, and whether it allocates for others.
 */
#ifndef ZMEM_GROW_NAMES_H
#define ZMEM_GROW_NAMES_H

#include "grow/debuginfod.h"
#include "grow/jit.h"
#include "grow/stack_table.h"
#include "model/growth.h"

struct name_sources {
	struct file_table *files;
	const struct stack_table *stacks;
	struct jit_maps *jit; /* after jit_maps_read() */
	struct debuginfod *debuginfod;
};

/*
 * Names a code of the stacks. *code becomes that of its function, the same for all its addresses.
 * Texts are owned by the files, by the maps of JIT code, or by the arena.
 */
void code_name(const struct name_sources *from, struct code *code, struct arena *arena,
	       struct growth_frame *ret);
/* Where functions of Python have names, those of its interpreter are not what allocates. */
void names_mark_interpreter(struct growth *g);

#endif
