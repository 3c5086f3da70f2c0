/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Changes with stacks that wait to be unwound. A helper unwinds many with one request: a request
 * costs more than a stack.
 */
#ifndef ZMEM_GROW_STACK_QUEUE_H
#define ZMEM_GROW_STACK_QUEUE_H

#include "code/code_reader.h"
#include "zmem/grow.h"

#define QUEUE_CHANGES 1024

struct grow_process;

struct queued_stack {
	struct grow_process *process;
	uint64_t key; /* of recall_find() */
	const struct zmem_grow_stack *message;
	/* What was found: the number of the stack, or a negative errno. */
	uint32_t number;
	int error;
	bool found;
};

struct queued_change {
	struct zmem_grow_head head;
	uint32_t stack; /* in `stack` */
};

/* Zeroed memory is empty. */
struct stack_queue {
	struct queued_stack stack[UNWIND_BATCH];
	struct queued_change change[QUEUE_CHANGES];
	size_t stacks, changes;
	size_t len; /* of data */
	_Alignas(8) char data[UNWIND_BYTES];
};

/* Copies a message. False if there is no room; an empty queue has room. */
bool stack_queue_add(struct stack_queue *q, struct grow_process *p, uint64_t key,
		     const struct zmem_grow_stack *m);
void stack_queue_clear(struct stack_queue *q);

#endif
