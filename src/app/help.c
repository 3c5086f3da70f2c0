// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* --help and -o help, made from the tables of commands, options and columns. */
#include "app/help.h"

#include <stdio.h>
#include <string.h>

#include "app/commands.h"
#include "app/message.h"
#include "zmem/column.h"

#define WIDTH		80
#define COMMANDS_INDENT 41
#define OPTIONS_INDENT	29

/* Words that begin in column `indent`, on as many lines as they take. */
static void put_words(const char *text, unsigned indent)
{
	unsigned at = indent;

	while (*text) {
		unsigned len = (unsigned)strcspn(text, " ");

		if (at > indent && at + 1 + len > WIDTH) {
			printf("\n%*s", (int)indent, "");
			at = indent;
		} else if (at > indent) {
			putchar(' ');
			at++;
		}
		printf("%.*s", (int)len, text);
		at += len;
		text += len + (text[len] == ' ');
	}
	putchar('\n');
}

int help_text(void)
{
	struct command_info command;
	struct option_info info;

	for (size_t i = 0; commands_info(i, &command); i++) {
		printf("%s zmem-bpf %-24s ", i ? "      " : "usage:", command.usage);
		put_words(command.help, COMMANDS_INDENT);
	}
	printf("\n");
	for (size_t i = 0; options_info(i, &info); i++) {
		char text[48], letter[8] = "    ";

		if (info.letter)
			snprintf(letter, sizeof(letter), "-%c, ", info.letter);
		snprintf(text, sizeof(text), "%s--%s%s%s", letter, info.name,
			 info.argument ? " " : "", info.argument ? info.argument : "");
		printf("  %-26s ", text);
		put_words(info.help, OPTIONS_INDENT);
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
		printf("%-16s %s\n", column_table[i]->key, column_table[i]->help);
	for (size_t i = 0; changes && i < COUNTERS_OF_PROCESS; i++)
		printf("%-16s %s\n", column_changes[i]->key, column_changes[i]->help);
	return message_stdout_done();
}
