// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Makes room for lists of processes. */
#include "model/process_list.h"

#include <errno.h>
#include <stdlib.h>

void process_list_done(struct process_list *rows)
{
	free(rows->item);
	*rows = (struct process_list){0};
}

int process_list_reserve(struct process_list *rows, size_t count)
{
	/* Room for at least one: malloc(0) may return NULL. */
	size_t capacity = count + count / 4 + 1;
	struct process **item;

	rows->count = 0;
	if (count < rows->capacity)
		return 0;
	item = reallocarray(NULL, capacity, sizeof(*item));
	if (!item)
		return -ENOMEM;
	if (rows->capacity)
		free(rows->item);
	*rows = (struct process_list){.item = item, .capacity = capacity};
	return 0;
}
