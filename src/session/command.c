// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Looks for rows in the table of commands. */
#include "session/command.h"

#include <string.h>

const struct command *command_find(const struct command_table *table, const char *name)
{
	for (size_t i = 0; i < table->count; i++) {
		if (strcmp(table->row[i].name, name) == 0)
			return &table->row[i];
	}
	return NULL;
}

const struct command *command_next(const struct command_table *table, const struct command *before)
{
	const struct command *c = before ? before + 1 : table->row;

	while (c < table->row + table->count && c->traits & COMMAND_HIDDEN)
		c++;
	return c < table->row + table->count ? c : NULL;
}
