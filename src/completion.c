// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * For the build: prints the part of a shell's completions that comes from the tables of commands,
 * options and columns. What a shell makes of it is in src/dist/completion. Not part of the program.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/options_table.h"
#include "base/array.h"
#include "model/column.h"
#include "model/maps.h"

/* What an argument is where no list of words says so. */
static const char *kind_of(const struct option_entry *e)
{
	static const struct {
		const char *option, *kind;
	} kinds[] = {
		{"sort", "keys"},  {"columns", "columns"},    {"pid", "pids"},
		{"user", "users"}, {"verify", "words all 0"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (strcmp(kinds[i].option, e->info.name) == 0)
			return kinds[i].kind;
	}
	return strcmp(e->info.argument, "FILE") == 0 ? "files" : "other";
}

/* Inside single quotes; what zsh's _arguments and _describe would take for a mark is escaped. */
static void print_quoted(const char *text, const char *marks)
{
	for (; *text; text++) {
		if (strchr(marks, *text))
			putchar('\\');
		if (*text == '\'')
			printf("'\\''");
		else
			putchar(*text);
	}
}

static void print_lower(const char *text)
{
	for (; *text; text++)
		putchar(tolower((unsigned char)*text));
}

static void print_map_keys(void)
{
	printf("_zmem_bpf_map_keys=(");
	for (int i = 0; i < MAP_COLUMNS; i++) {
		if (i)
			putchar(' ');
		print_lower(map_column_header(i));
	}
	printf(")\n");
}

static void bash_columns(void)
{
	printf("_zmem_bpf_column_names=(");
	for (size_t i = 0; i < column_count; i++)
		printf("%s%s", i ? " " : "", column_table[i]->key);
	printf(")\n_zmem_bpf_change_names=(");
	for (size_t i = 0; i < COUNTERS_OF_PROCESS; i++)
		printf("%s%s", i ? " " : "", column_changes[i]->key);
	printf(")\n");
}

static void bash_arguments(void)
{
	printf("_zmem_bpf_argument()\n{\n\tcase $1 in\n");
	for (size_t i = 0; i < option_count; i++) {
		const struct option_entry *e = &option_table[i];

		if (!e->info.argument)
			continue;
		printf("\t");
		if (e->info.letter)
			printf("-%c | ", e->info.letter);
		printf("--%s) kind='%s", e->info.name, e->words ? "words" : kind_of(e));
		for (size_t w = 0; e->words && e->words[w]; w++)
			printf(" %s", e->words[w]);
		printf("' ;;\n");
	}
	printf("\t*) kind= ;;\n\tesac\n}\n");
}

/* Those that the command takes; NULL: all. */
static void put_options(const char *command)
{
	for (size_t i = 0; i < option_count; i++) {
		const struct option_info *info = &option_table[i].info;

		if (command && !options_taken(info, command))
			continue;
		if (info->letter)
			printf(" -%c", info->letter);
		printf(" --%s", info->name);
	}
}

static void bash_options(const char *command)
{
	printf("_zmem_bpf_options%s%s=(", command ? "_" : "", command ? command : "");
	put_options(command);
	printf(")\n");
}

static void bash(void)
{
	struct command_info command;

	printf("_zmem_bpf_commands=(");
	for (size_t i = 0; commands_info(i, &command); i++)
		printf("%s%s", i ? " " : "", command.name);
	printf(")\n");
	bash_options(NULL);
	for (size_t i = 0; commands_info(i, &command); i++)
		bash_options(command.name);
	bash_columns();
	print_map_keys();
	bash_arguments();
}

static void zsh_column(const struct column *c)
{
	printf("\t'%s:", c->key);
	print_quoted(c->help, ":\\");
	printf("'\n");
}

/* '(-s --sort)'{-s+,--sort=}'[help]:argument:action', as _arguments has it. */
static void zsh_option(const struct option_entry *e)
{
	const struct option_info *info = &e->info;

	if (e->kind == LIST)
		printf("\t'*'");
	else if (info->letter)
		printf("\t'(-%c --%s)'", info->letter, info->name);
	else
		printf("\t''");
	if (info->letter)
		printf("{-%c%s,--%s%s}'[", info->letter, info->argument ? "+" : "", info->name,
		       info->argument ? "=" : "");
	else
		printf("--%s%s'[", info->name, info->argument ? "=" : "");
	print_quoted(info->help, "[]\\");
	printf("]");
	if (info->argument) {
		printf(":");
		print_lower(info->name);
		printf(":");
	}
	if (e->words) {
		for (size_t w = 0; e->words[w]; w++)
			printf("%s%s", w ? " " : "(", e->words[w]);
		printf(")");
	} else if (info->argument && strncmp(kind_of(e), "words ", 6) == 0) {
		printf("(%s)", kind_of(e) + 6);
	} else if (info->argument) {
		printf("_zmem_bpf_%s", kind_of(e));
	}
	printf("'\n");
}

static void zsh(void)
{
	struct command_info command;

	printf("_zmem_bpf_commands=(\n");
	for (size_t i = 0; commands_info(i, &command); i++) {
		printf("\t'%s:", command.name);
		print_quoted(command.help, ":\\");
		printf("'\n");
	}
	printf(")\n_zmem_bpf_column_names=(\n");
	for (size_t i = 0; i < column_count; i++)
		zsh_column(column_table[i]);
	printf(")\n_zmem_bpf_change_names=(\n");
	for (size_t i = 0; i < COUNTERS_OF_PROCESS; i++)
		zsh_column(column_changes[i]);
	printf(")\n");
	print_map_keys();
	printf("_zmem_bpf_options=(\n");
	for (size_t i = 0; i < option_count; i++)
		zsh_option(&option_table[i]);
	printf(")\n_zmem_bpf_taken=(\n");
	for (size_t i = 0; commands_info(i, &command); i++) {
		printf("\t%s '", command.name);
		put_options(command.name);
		printf("'\n");
	}
	printf(")\n");
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "bash") == 0) {
		bash();
	} else if (argc == 2 && strcmp(argv[1], "zsh") == 0) {
		zsh();
	} else {
		fprintf(stderr, "usage: completion bash|zsh\n");
		return 2;
	}
	return fflush(stdout) ? 1 : 0;
}
