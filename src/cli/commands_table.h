/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The commands there are. */
#ifndef ZMEM_CLI_COMMANDS_TABLE_H
#define ZMEM_CLI_COMMANDS_TABLE_H

#include "cli/commands.h"

struct command_entry {
	struct command_info info;
	int (*run)(const struct options *o);
};

extern const struct command_entry command_table[];
extern const size_t command_count;

#endif
