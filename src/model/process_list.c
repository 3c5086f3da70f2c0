// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Makes room for lists of processes. */
#include "model/process_list.h"

#include <errno.h>
#include <stdlib.h>

void process_list_done(struct process_list *processes)
{
	free(processes->item);
	*processes = (struct process_list){0};
}

int process_list_reserve(struct process_list *processes, size_t count)
{
	/* Room for at least one: malloc(0) may return NULL. */
	size_t capacity = count + count / 4 + 1;
	struct process **item;

	processes->count = 0;
	if (count < processes->capacity)
		return 0;
	item = reallocarray(NULL, capacity, sizeof(*item));
	if (!item)
		return -ENOMEM;
	if (processes->capacity)
		free(processes->item);
	*processes = (struct process_list){.item = item, .capacity = capacity};
	return 0;
}
