/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stacks, each once, with the changes that they made. Its memory is bounded. */
#ifndef ZMEM_MODEL_STACK_TABLE_H
#define ZMEM_MODEL_STACK_TABLE_H

#include "base/arena.h"
#include "model/growth.h"

#define NO_FILE UINT32_MAX

/* An address: in the terms of a file, so that processes that map it share it. */
struct code {
	uint32_t file;	/* NO_FILE: the address is absolute */
	uint32_t label; /* not 0: no code, but one of the texts */
	uint32_t jit;	/* not 0: the number of what may name it (jit.h) */
	uint64_t vaddr;
};

struct stack_table {
	struct code *code;
	size_t codes, code_capacity;
	struct growth_stack *stack; /* frames are numbers of codes */
	size_t stacks, stack_capacity;
	const char **label; /* from 1 on */
	size_t labels, label_capacity;
	/* Private. */
	struct stack_slots {
		uint32_t *slot; /* a number, and 1; 0: it is free */
		size_t count;	/* a power of 2 */
	} code_slots, stack_slots;
	struct arena arena;
};

#define STACKS_MAX (1u << 20)

/* These return 0 or a negative errno: -ENOSPC if the table is full. Labels have room even then. */
int stack_table_code(struct stack_table *t, const struct code *code, uint32_t *ret);
/* The number of a text that stands for code. */
int stack_table_label(struct stack_table *t, const char *text, uint32_t *ret_code);
int stack_table_stack(struct stack_table *t, const uint32_t *code, size_t count, bool truncated,
		      uint32_t *ret);
void stack_table_done(struct stack_table *t);

#endif
