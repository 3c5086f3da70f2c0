// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* --help and -o help, made from the tables of commands, options and columns. */
#include "app/help.h"

#include <stdio.h>

#include "app/commands.h"
#include "app/message.h"
#include "zmem/column.h"

int help_text(void)
{
	struct command_info command;
	struct option_info info;

	for (size_t i = 0; commands_info(i, &command); i++)
		printf("%s zmem-bpf %-24s %s\n", i ? "      " : "usage:", command.usage,
		       command.help);
	printf("\n");
	for (size_t i = 0; options_info(i, &info); i++) {
		char text[48], letter[8] = "    ";

		if (info.letter)
			snprintf(letter, sizeof(letter), "-%c, ", info.letter);
		snprintf(text, sizeof(text), "%s--%s%s%s", letter, info.name,
			 info.argument ? " " : "", info.argument ? info.argument : "");
		printf("  %-26s %s\n", text, info.help);
	}
	printf("\nNot measured is '-' in tables, null in JSON and empty in CSV, never 0:\n"
	       "pss_status says why.\n"
	       "Exit codes: 0 done, 1 failure, 2 usage, 3 a pid or user is not there,\n"
	       "4 compare or --verify found a difference it cannot explain.\n");
	return message_stdout_done();
}

int help_columns(bool changes)
{
	for (size_t i = 0; i < column_count; i++)
		printf("%-14s %s\n", column_table[i]->key, column_table[i]->help);
	for (size_t i = 0; changes && i < COUNTERS_OF_PROCESS; i++)
		printf("%-14s %s\n", column_changes[i]->key, column_changes[i]->help);
	return message_stdout_done();
}
