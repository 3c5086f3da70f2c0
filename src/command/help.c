// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* --help, help, -o help and -s help: prints the tables of commands, options and columns. */
#include "command/help.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "command/table.h"
#include "fields/process_fields.h"
#include "session/log.h"
#include "write/text.h"

#define WIDTH	       80
#define USAGE_BEFORE   16 /* columns before the usage of a command */
#define OPTIONS_INDENT 29

/* Prints text from column `indent` on, folded at WIDTH. */
static void print_folded(const char *text, unsigned indent)
{
	cleanup(strbuf_done) struct strbuf out = {};

	text_put_folded(&out, text, indent, WIDTH);
	fputs(strbuf_str(&out), stdout);
}

/* The columns that the longest usage takes. */
static int usage_width(const struct command_table *table)
{
	size_t width = 0;

	for (const struct command *c = NULL; (c = command_next(table, c));) {
		size_t len = strlen(c->usage);

		width = len > width ? len : width;
	}
	return (int)width;
}

static void print_usage(const char *before, const struct command *c, int width)
{
	printf("%s zmem-bpf %-*s  ", before, width, c->usage);
	print_folded(c->summary, USAGE_BEFORE + (unsigned)width + 2);
}

/* The usage of that command, of all if NULL. */
static void print_usages(const struct command_table *table, const struct command *only)
{
	int width = usage_width(table);
	const char *before = "usage:";

	if (only) {
		print_usage(before, only, width);
		return;
	}
	for (const struct command *c = NULL; (c = command_next(table, c));) {
		print_usage(before, c, width);
		before = "      ";
	}
}

static void print_option(const struct option_entry *e, const struct command *command)
{
	size_t own = strcspn(command->name, " "); /* of "doctor --compare" */
	char text[48], letter[8] = "    ";
	const char *help = e->help;
	bool formats = strcmp(e->name, "format") == 0 && command->formats;

	/* "maps: only mappings …" */
	if (strncmp(help, command->name, own) == 0 && strncmp(help + own, ": ", 2) == 0)
		help += own + 2;
	if (e->letter)
		snprintf(letter, sizeof(letter), "-%c, ", e->letter);
	snprintf(text, sizeof(text), "%s--%s%s%s", letter, e->name,
		 e->argument && !options_may_be_flag(e) ? " " : "", e->argument ? e->argument : "");
	printf("  %-26s ", text);
	print_folded(formats ? command->formats : help, OPTIONS_INDENT);
}

static void print_options(const struct command *command)
{
	static const char *const heading[OPTION_SECTIONS] = {
		[OPTIONS_CHOOSE_ROWS] = "Choose rows",
		[OPTIONS_SHOW] = "Show",
		[OPTIONS_SORT] = "Sort",
		[OPTIONS_OUTPUT] = "Output",
		[OPTIONS_MEASURE] = "How it is measured",
		[OPTIONS_ADVANCED] = "Advanced",
	};
	int section = -1;

	for (size_t i = 0; i < option_count; i++) {
		const struct option_entry *e = &option_table[i];

		if (!options_taken(e, command))
			continue;
		if ((int)e->section != section)
			printf("\n%s:\n", heading[e->section]);
		section = (int)e->section;
		print_option(e, command);
	}
}

static void print_examples(const struct command *command)
{
	printf("\nExamples:\n");
	for (int i = 0; i < COMMAND_EXAMPLES && command->example[i]; i++)
		printf("  %s\n", command->example[i]);
}

static void print_keys(const struct command *command)
{
	const char *line;

	printf("\nKeys:\n");
	for (size_t i = 0; (line = command->key_help(i)); i++)
		printf("  %s\n", line);
}

int help_print(const struct command_table *table, const struct command *named)
{
	const struct command *command = named ? named : table->row;

	print_usages(table, named);
	print_options(command);
	if (command->key_help)
		print_keys(command);
	if (command->example[0])
		print_examples(command);
	if (named)
		printf("\nzmem-bpf help shows all commands; man %s says more.\n", command->page);
	else
		printf("\nzmem-bpf COMMAND --help shows the options of a command; man zmem-bpf says "
		       "more.\n"
		       "A value that was not measured is '-' in tables, null in JSON and empty in "
		       "CSV,\nnever 0: pss_status says why.\n"
		       "Exit codes: 0 done, 1 failure, 2 usage, 3 a pid or user was not found,\n"
		       "4 doctor --compare or --verify found a difference it cannot explain.\n");
	return log_stdout_done();
}

int help_refuse(const struct options *o, const char *name)
{
	const struct command_table *table = o->commands;
	const struct options none = {}; /* the hint is to the help of the program */
	const char *near = NULL;
	unsigned least = 0;

	for (const struct command *c = NULL; (c = command_next(table, c));) {
		if (parse_is_nearer(c->name, name, strlen(name), &least))
			near = c->name;
	}
	if (!near && *name)
		return log_usage(&none,
				 "%s: there is no such command; -f %s chooses processes by name",
				 name, name);
	return log_usage(&none, "%s: there is no such command%s%s%s", name,
			 near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

int command_help(const struct options *o)
{
	const struct command *named = o->word ? command_find(o->commands, o->word) : NULL;

	return o->word && !named ? help_refuse(o, o->word) : help_print(o->commands, named);
}

int command_version(const struct options *o)
{
	(void)o;
	printf("zmem-bpf %s\n", ZMEM_VERSION);
	return log_stdout_done();
}

/* -o help and -s help. `changes`: also the columns that only watch and top have. */
static int print_columns(const struct fields *all, bool changes)
{
	for (size_t i = 0; i < (changes ? all->count : all->since); i++)
		printf("%-16s %s\n", all->item[i]->key, all->item[i]->help);
	return log_stdout_done();
}

int help_print_columns(const struct options *o)
{
	if (o->command->fields)
		return print_columns(o->command->fields, false);
	return print_columns(&process_fields, o->command->traits & COMMAND_SERIES);
}
