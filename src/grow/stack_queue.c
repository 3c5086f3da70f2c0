// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "grow/stack_queue.h"

#include <string.h>

_Static_assert(unwind_size(ZMEM_GROW_STACK_MAX) <= UNWIND_BYTES, "an empty queue has room");

bool stack_queue_add(struct stack_queue *q, struct grow_process *p, uint64_t key,
		     const struct zmem_grow_stack *m)
{
	size_t i = 0, size = unwind_size(m->len);

	if (q->changes == QUEUE_CHANGES)
		return false;
	while (i < q->stacks && (q->stack[i].key != key || q->stack[i].process != p))
		i++;
	if (i == q->stacks) {
		char *to = q->data + q->len;

		if (i == UNWIND_BATCH || size > sizeof(q->data) - q->len)
			return false;
		memcpy(to, m, sizeof(*m) + m->len);
		q->stack[q->stacks++] = (struct queued_stack){
			.process = p, .key = key, .message = (const void *)to};
		q->len += size;
	}
	q->change[q->changes++] = (struct queued_change){m->head, (uint32_t)i};
	return true;
}

void stack_queue_clear(struct stack_queue *q)
{
	q->stacks = q->changes = q->len = 0;
}
