// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Makes room for rows, and tells of all of them. */
#include "query/rows.h"

#include <errno.h>
#include <stdlib.h>

void rows_done(struct rows *rows)
{
	free(rows->item);
	*rows = (struct rows){0};
}

int rows_reserve(struct rows *rows, size_t count)
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
	*rows = (struct rows){.item = item, .capacity = capacity};
	return 0;
}

void rows_count_filtered(const struct rows *rows, struct collection *c)
{
	c->filtered = c->seen - c->kernel_threads - c->zombies;
	for (size_t i = 0; i < rows->count; i++)
		c->filtered -= rows->item[i]->kind == PROCESS_USER;
}

enum pss_source rows_pss_source(const struct rows *rows)
{
	enum pss_source source = PSS_FROM_NOTHING;

	for (size_t i = 0; i < rows->count; i++)
		source = pss_source_join(source, rows->item[i]->pss_source);
	return source;
}
