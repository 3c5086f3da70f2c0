// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * zmem-bpf completion bash|zsh|fields, which the build runs: prints the tables of commands, options
 * and columns for a shell: its functions in src/dist/completion read them; or the fields of rows,
 * of which src/dist/documents.py makes schemas and a manual page.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/parse.h"
#include "command/table.h"
#include "fields/change_fields.h"
#include "fields/compare_fields.h"
#include "fields/ended_fields.h"
#include "fields/file_fields.h"
#include "fields/finding_said.h"
#include "fields/growth_fields.h"
#include "fields/head_said.h"
#include "fields/incident_fields.h"
#include "fields/map_fields.h"
#include "fields/peak_fields.h"
#include "fields/process_fields.h"
#include "fields/system_fields.h"
#include "session/log.h"
#include "session/options_check.h"

/* Whether the next word is the argument of the option. */
static bool has_argument(const struct option_entry *e)
{
	return e->argument && !options_may_be_flag(e);
}

/* How a shell completes the argument of an option that has no list of words. */
static const char *kind_of(const struct option_entry *e)
{
	static const struct {
		const char *option, *kind;
	} kinds[] = {
		{"sort", "keys"},  {"columns", "columns"},    {"pid", "pids"},
		{"user", "users"}, {"verify", "words all 0"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (strcmp(kinds[i].option, e->name) == 0)
			return kinds[i].kind;
	}
	return strcmp(e->argument, "FILE") == 0 ? "files" : "other";
}

/* Prints text for single quotes. `marks`: bytes to escape for _arguments and _describe of zsh. */
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

/* What rows of a kind can be sorted by. */
static void print_keys(const char *kind, const struct fields *all)
{
	const char *before = "";

	printf("_zmem_bpf_%s_keys=(", kind);
	for (size_t i = 0; i < all->count; i++) {
		if (all->item[i]->flags & FIELD_EXTRA)
			continue;
		printf("%s%s", before, all->item[i]->key);
		before = " ";
	}
	printf(")\n");
}

static void bash_columns(void)
{
	printf("_zmem_bpf_column_names=(");
	for (size_t i = 0; i < process_fields.since; i++)
		printf("%s%s", i ? " " : "", process_fields.item[i]->key);
	printf(")\n_zmem_bpf_change_names=(");
	for (size_t i = process_fields.since; i < process_fields.count; i++)
		printf("%s%s", i > process_fields.since ? " " : "", process_fields.item[i]->key);
	printf(")\n");
}

static void bash_arguments(void)
{
	printf("_zmem_bpf_argument()\n{\n\tcase $1 in\n");
	for (size_t i = 0; i < option_count; i++) {
		const struct option_entry *e = &option_table[i];

		if (!has_argument(e))
			continue;
		printf("\t");
		if (e->letter)
			printf("-%c | ", e->letter);
		printf("--%s) kind='%s", e->name, e->words ? "words" : kind_of(e));
		for (size_t w = 0; e->words && e->words[w]; w++)
			printf(" %s", e->words[w]);
		printf("' ;;\n");
	}
	printf("\t*) kind= ;;\n\tesac\n}\n");
}

/* Whether the command takes the option, if need be behind --compare. */
static bool takes(const struct command *c, const struct option_entry *e)
{
	return options_taken(e, c) || (c->comparing && options_taken(e, c->comparing));
}

/* The options that the command takes; NULL: all options. */
static void print_options(const struct command *command)
{
	for (size_t i = 0; i < option_count; i++) {
		const struct option_entry *e = &option_table[i];

		if (command && !takes(command, e))
			continue;
		if (e->letter)
			printf(" -%c", e->letter);
		printf(" --%s", e->name);
	}
}

static void bash_options(const struct command *command)
{
	printf("_zmem_bpf_options%s%s=(", command ? "_" : "", command ? command->name : "");
	print_options(command);
	printf(")\n");
}

static void print_list(const char *command, const char *list)
{
	const char *word;
	size_t len;

	printf("\t[%s]='", command);
	while ((word = parse_item(&list, &len)))
		printf("%.*s ", (int)len, word);
	printf("'\n");
}

/* Sort keys; and as associative arrays the formats and the words of --group-by of each command. */
static void print_words(const struct command_table *t, const char *declare)
{
	print_keys("map", &map_fields);
	print_keys("file", &file_fields);
	print_keys("growth", &growth_columns);
	printf("%s_zmem_bpf_formats_of=(\n", declare);
	for (const struct command *c = NULL; (c = command_next(t, c));) {
		const char *formats = c->comparing ? c->comparing->formats : c->formats;

		if (formats)
			print_list(c->name, formats);
	}
	printf(")\n%s_zmem_bpf_groups_of=(\n", declare);
	for (const struct command *c = NULL; (c = command_next(t, c));)
		print_list(c->name, options_group_words(c));
	printf(")\n");
}

static void print_bash(const struct command_table *t)
{
	printf("_zmem_bpf_commands=(");
	for (const struct command *c = NULL; (c = command_next(t, c));)
		printf("%s%s", c == t->row ? "" : " ", c->name);
	printf(")\n");
	bash_options(NULL);
	for (const struct command *c = NULL; (c = command_next(t, c));)
		bash_options(c);
	bash_columns();
	print_words(t, "declare -gA ");
	bash_arguments();
}

static void zsh_column(const struct field *c)
{
	printf("\t'%s:", c->key);
	print_quoted(c->help, ":\\");
	printf("'\n");
}

/* '(-s --sort)'{-s+,--sort=}'[help]:argument:action': the syntax of zsh's _arguments. */
static void zsh_option(const struct option_entry *e)
{
	if (e->kind == LIST)
		printf("\t'*'");
	else if (e->letter)
		printf("\t'(-%c --%s)'", e->letter, e->name);
	else
		printf("\t''");
	if (e->letter)
		printf("{-%c%s,--%s%s}'[", e->letter, has_argument(e) ? "+" : "", e->name,
		       has_argument(e) ? "=" : "");
	else
		printf("--%s%s'[", e->name, has_argument(e) ? "=" : "");
	print_quoted(e->help, "[]\\");
	printf("]");
	if (has_argument(e)) {
		printf(":");
		print_lower(e->name);
		printf(":");
	}
	if (e->words) {
		for (size_t w = 0; e->words[w]; w++)
			printf("%s%s", w ? " " : "(", e->words[w]);
		printf(")");
	} else if (has_argument(e) && strncmp(kind_of(e), "words ", 6) == 0) {
		printf("(%s)", kind_of(e) + 6);
	} else if (has_argument(e)) {
		printf("_zmem_bpf_%s", kind_of(e));
	}
	printf("'\n");
}

static void print_zsh(const struct command_table *t)
{
	printf("_zmem_bpf_commands=(\n");
	for (const struct command *c = NULL; (c = command_next(t, c));) {
		printf("\t'%s:", c->name);
		print_quoted(c->summary, ":\\");
		printf("'\n");
	}
	printf(")\n_zmem_bpf_column_names=(\n");
	for (size_t i = 0; i < process_fields.since; i++)
		zsh_column(process_fields.item[i]);
	printf(")\n_zmem_bpf_change_names=(\n");
	for (size_t i = process_fields.since; i < process_fields.count; i++)
		zsh_column(process_fields.item[i]);
	printf(")\n");
	printf("_zmem_bpf_options=(\n");
	for (size_t i = 0; i < option_count; i++)
		zsh_option(&option_table[i]);
	printf(")\n_zmem_bpf_taken=(\n");
	for (const struct command *c = NULL; (c = command_next(t, c));) {
		printf("\t%s '", c->name);
		print_options(c);
		printf("'\n");
	}
	printf(")\n");
	print_words(t, "");
}

/*
 * A line for each field of a list: list, key, type, flags, the most bytes of a text and of its hex
 * form (0: not limited) and help, with tabs between them. The list of fields in an object, or in
 * the rows of an array, is LIST.KEY.
 */
static void print_fields(const char *name, const struct fields *all)
{
	static const char *const types[] = {
		[FIELD_BYTES] = "bytes",     [FIELD_AMOUNT] = "amount",
		[FIELD_NUMBER] = "number",   [FIELD_PERCENT] = "percent",
		[FIELD_TIME] = "time",	     [FIELD_CHANGE] = "change",
		[FIELD_GROWTH] = "growth",   [FIELD_RATIO] = "ratio",
		[FIELD_TEXT] = "text",	     [FIELD_BOOL] = "bool",
		[FIELD_OBJECT] = "object",   [FIELD_ROWS] = "rows",
		[FIELD_WORDS] = "words",     [FIELD_ADDRESS] = "address",
		[FIELD_NUMBERS] = "numbers",
	};
	char below[128];

	for (size_t i = 0; i < all->count; i++) {
		const struct field *f = all->item[i];

		printf("%s\t%.*s\t%s\t%s%s%s%s\t%d\t%d\t%s\n", name, FIELD_JSON(f), types[f->type],
		       f->flags & FIELD_CUT_BOOL   ? "cut_bool,"
		       : f->flags & FIELD_CUT_TRUE ? "cut_true,"
						   : "",
		       f->flags & FIELD_HEX ? "hex," : "",
		       f->flags & FIELD_OPTIONAL ? "optional," : "",
		       f->flags & FIELD_KNOWN ? "known," : "", f->max.usual, f->max_hex.usual,
		       f->help);
		snprintf(below, sizeof(below), "%s.%.*s", name, FIELD_JSON(f));
		if (f->type == FIELD_OBJECT || f->type == FIELD_ROWS)
			print_fields(below, f->fields);
	}
}

static void print_rows(const char *name, const struct field *group)
{
	struct field_list list;

	process_list_json(&list, group, true);
	print_fields(name, &(struct fields){.item = list.item, .count = list.count});
}

static void print_documents(void)
{
	print_fields("counters", &process_counters);
	print_rows("process", NULL);
	print_rows("group", process_field("name"));
	print_rows("memcg_group", process_field("cgroup"));
	print_fields("file",
		     file_row_fields(&(struct files_report){.holders = true, .cgroups = true}));
	print_fields("file_group", file_row_fields(&(struct files_report){.group = "fs"}));
	print_fields("files", &file_measured);
	print_fields("machine", &system_values);
	print_fields("machine_ram", &system_ram);
	print_fields("system", &system_document);
	print_fields("head", &head_fields);
	print_fields("finding", &finding_fields);
	print_fields("change", &change_process_fields);
	print_fields("group_change", &change_group_fields);
	print_fields("change_sum", &change_total_fields);
	print_fields("change_machine", &change_machine_fields);
	print_fields("ended", &ended_fields);
	print_fields("incident", &incident_fields);
	print_fields("oom_kill", &incident_kill_fields);
	print_fields("signal", &incident_signal_fields);
	print_fields("pressure", &incident_pressure_fields);
	print_fields("kills_unrecorded", &incident_unrecorded_fields);
	print_fields("no_victim", &incident_no_victim_fields);
	print_fields("grow", &growth_document);
	print_fields("peak", &peak_document);
	print_fields("map_counters", &map_counters);
	for (int rows = MAP_ROWS_EACH; rows <= MAP_ROWS_KINDS; rows++)
		print_fields("maps", map_document[rows]);
	print_fields("compare", &compare_document);
}

int command_completion(const struct options *o)
{
	const char *shell = o->word ? o->word : "";

	if (strcmp(shell, "bash") == 0)
		print_bash(o->commands);
	else if (strcmp(shell, "zsh") == 0)
		print_zsh(o->commands);
	else if (strcmp(shell, "fields") == 0)
		print_documents();
	else
		return log_usage(o, "completion: it needs bash, zsh or fields");
	return log_stdout_done();
}
