// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* --help and -o help, made from the tables of commands, options and columns. */
#include "cli/help.h"

#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/log.h"
#include "model/column.h"

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

/* Of that command alone if there is one of that name. */
static bool put_usage(const char *name)
{
	struct command_info command;
	bool begun = false;

	for (size_t i = 0; commands_info(i, &command); i++) {
		if (name && strcmp(name, command.name) != 0)
			continue;
		printf("%s zmem-bpf %-24s ", begun ? "      " : "usage:", command.usage);
		put_words(command.help, COMMANDS_INDENT);
		begun = true;
	}
	return begun;
}

static void put_option(const struct option_info *info)
{
	char text[48], letter[8] = "    ";

	if (info->letter)
		snprintf(letter, sizeof(letter), "-%c, ", info->letter);
	snprintf(text, sizeof(text), "%s--%s%s%s", letter, info->name, info->argument ? " " : "",
		 info->argument ? info->argument : "");
	printf("  %-26s ", text);
	put_words(info->help, OPTIONS_INDENT);
}

int help_text(const char *command)
{
	struct option_info info;

	if (!put_usage(command)) {
		command = NULL;
		put_usage(NULL);
	}
	printf("\n");
	for (size_t i = 0; options_info(i, &info); i++) {
		if (!command || options_taken(&info, command))
			put_option(&info);
	}
	printf("\n%s --help shows %s.\n", command ? "zmem-bpf" : "zmem-bpf COMMAND",
	       command ? "all commands" : "what that one takes");
	printf("Not measured is '-' in tables, null in JSON and empty in CSV, never 0:\n"
	       "pss_status says why.\n"
	       "Exit codes: 0 done, 1 failure, 2 usage, 3 a pid or user is not there,\n"
	       "4 compare or --verify found a difference it cannot explain.\n");
	return log_stdout_done();
}

int help_columns(bool changes)
{
	for (size_t i = 0; i < column_count; i++)
		printf("%-16s %s\n", column_table[i]->key, column_table[i]->help);
	for (size_t i = 0; changes && i < COUNTERS_OF_PROCESS; i++)
		printf("%-16s %s\n", column_changes[i]->key, column_changes[i]->help);
	return log_stdout_done();
}
