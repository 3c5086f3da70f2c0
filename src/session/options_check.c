// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Refuses options that the command does not take, or that cannot be combined. */
#include "base/array.h"
#include "session/options_check.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "fields/file_fields.h"
#include "fields/process_fields.h"
#include "model/files.h"
#include "query/query_parse.h"
#include "report/report.h"
#include "session/log.h"
#include "source/source.h"

/* A database keeps every series of every group, so metrics limit the number of groups. */
int options_check_metrics(const struct options *o)
{
	const struct field *group = options_group(o);

	if (group && group->needs & NEEDS_CMDLINE)
		return log_usage(o, "--group-by cmdline: metrics hold no command lines");
	if (o->total)
		return log_usage(o, "--total cannot be combined with metrics");
	if (o->top > METRICS_GROUPS_MAX)
		return log_usage(o, "--top %d: metrics have at most %d groups", o->top,
				 METRICS_GROUPS_MAX);
	return 0;
}

/* An option that the command does not take is refused, not ignored. */
int options_check_taken(const struct options *o)
{
	for (size_t i = 0; i < option_count; i++) {
		const struct option_entry *e = &option_table[i];

		if (options_given(o, e) && !options_taken(e, o->command))
			return log_usage(o, "%s does not take --%s", o->command->name, e->name);
	}
	return 0;
}

/* Columns that are read on request, also of groups, and that JSON and metrics then have. */
#define NEEDS_ON_REQUEST                                                                           \
	(NEEDS_FREED | NEEDS_NODES | NEEDS_LAZYFREE | NEEDS_HUGETLB | NEEDS_GPU | NEEDS_THP_REST | \
	 NEEDS_KERNEL)

static bool is_on_request(const struct field *f)
{
	return f->needs & NEEDS_ON_REQUEST;
}

/* No key of JSON can be left out. */
static bool is_json_key(const struct field *f)
{
	return f->type != FIELD_PERCENT && !(f->flags & FIELD_SINCE);
}

/* Whether the columns only append to what a document has, and each of them may. */
static bool are_appended(const char *columns, const struct fields *all,
			 bool (*may)(const struct field *f))
{
	struct field_list list = {};
	struct field_error bad;

	if (*columns != '+')
		return false;
	if (field_list_parse(&list, all, columns, &bad) < 0)
		return true; /* query_args_read() or the command prints the message */
	for (size_t i = 0; i < list.count; i++) {
		if (!may(list.item[i]))
			return false;
	}
	return true;
}

/* What recordings and serve have only on request. */
static bool is_stored_on_request(const struct field *f)
{
	return f == process_field("cmdline") || f == process_field("kernel");
}

unsigned options_columns_need(const struct options *o)
{
	struct field_list list = {};
	struct field_error bad;

	if (!o->columns || field_list_parse(&list, &process_fields, o->columns, &bad) < 0)
		return 0;
	return field_list_needs(&list);
}

static int refuse_columns(const struct options *o, const char *what, const char *example)
{
	return log_usage(o,
			 "%s: --columns %s: it has all keys, only what is read on request can be "
			 "added, as %s",
			 what, o->columns, example);
}

/* JSON, recordings, serve, metrics and folded have fixed columns; some take columns to add. */
static int check_columns(const struct options *o)
{
	bool keys = o->format == FORMAT_JSON || o->format == FORMAT_NDJSON;
	bool collects_all = o->command->traits & COMMAND_STORES;
	const char *what = collects_all ? o->command->name : options_format_word(o->format);

	if (!o->columns)
		return 0;
	if (o->command->traits & COMMAND_FILES)
		return o->format == FORMAT_TABLE ||
				       are_appended(o->columns, &file_fields, is_json_key)
			       ? 0
			       : refuse_columns(o, what, "+holders,cgroup");
	/* Rows of other kinds: their commands check them. */
	if (o->command->fields)
		return 0;
	if (collects_all && (!options_columns_need(o) ||
			     !are_appended(o->columns, &process_fields, is_stored_on_request)))
		return log_usage(o,
				 "%s: --columns %s: it has all keys, only +cmdline and +kernel can "
				 "be added",
				 what, o->columns);
	if (!collects_all && keys && !are_appended(o->columns, &process_fields, is_json_key))
		return refuse_columns(o, what, "+cmdline");
	if ((keys || options_metrics(o)) &&
	    are_appended(o->columns, &process_fields, is_on_request))
		return 0;
	if (keys && o->group)
		return log_usage(o, "%s: --columns cannot be combined with --group-by", what);
	if (o->format == FORMAT_FOLDED || options_metrics(o))
		return log_usage(o, "--columns cannot be combined with --format %s", what);
	return 0;
}

/* The first of these options that was given; NULL: none. */
static const char *first_given(const struct options *o, const char *list)
{
	for (size_t i = 0; i < option_count; i++) {
		if (options_given(o, &option_table[i]) &&
		    parse_has_item(list, option_table[i].name))
			return option_table[i].name;
	}
	return NULL;
}

/* Nothing is measured for a recording. */
static int check_replay(const struct options *o)
{
	static const struct {
		const char *options, *has;
	} other[] = {{"files", "has no files"},
		     {"apps", "has the apps of record --apps"},
		     {"source, pinned, pss, verify, exact", "holds the values that were read"}};
	const char *name;

	if (!o->replay)
		return 0;
	if (o->command->no_replay)
		return log_usage(o, "%s does not take --replay: %s", o->command->name,
				 o->command->no_replay);
	if (o->by != BY_CLASS)
		return log_usage(
			o, "--by cannot be combined with --replay: a recording has only classes");
	for (size_t i = 0; i < ARRAY_SIZE(other); i++) {
		name = first_given(o, other[i].options);
		if (name)
			return log_usage(o, "--%s cannot be combined with --replay: a recording %s",
					 name, other[i].has);
	}
	return 0;
}

/* Files have other groups than processes. */
const char *options_group_words(const struct command *command)
{
	if (command->traits & COMMAND_FILES)
		return FILE_GROUP_WORDS;
	return command->traits & COMMAND_NODES ? GROUP_WORDS ", node" : GROUP_WORDS;
}

static int check_group(const struct options *o)
{
	const char *key = options_group_key(o);
	bool files = o->command->traits & COMMAND_FILES;

	if (key && files && o->format == FORMAT_HTML)
		return log_usage(o,
				 "files: --group-by: the page has files, and groups them itself");
	if (key && strcmp(key, "node") == 0)
		return o->command->traits & COMMAND_NODES
			       ? 0
			       : log_usage(o,
					   "%s: --group-by node: the nodes of the machine are in "
					   "zmem-bpf system --by node",
					   o->command->name);
	if (!key || strcmp(key, "none") == 0 || parse_has_item(FILE_GROUP_WORDS, key) == files)
		return 0;
	return log_usage(o, "%s: --group-by %s: must be one of %s", o->command->name, key,
			 options_group_words(o->command));
}

/* A word that no command has: the message lists those of this command. */
int options_refuse_choice(const struct options *o)
{
	const struct command *command = o->command;
	const struct option_entry *e = o->unknown;
	cleanup(strbuf_done) struct strbuf all = {};
	const char *words = NULL;

	if (strcmp(e->name, "format") == 0)
		words = command->formats;
	else if (strcmp(e->name, "group-by") == 0)
		words = options_group_words(command);
	for (size_t i = 0; e->words[i]; i++)
		strbuf_printf(&all, "%s%s", i ? ", " : "", e->words[i]);
	return log_usage(o, "%s: --%s %s: must be one of %s", command->name, e->name,
			 o->unknown_word, words ? words : strbuf_str(&all));
}

int options_check(const struct options *o)
{
	const struct command *command = o->command;
	int r = check_replay(o);

	/* Before the options that are taken: -J is a format. */
	if (r == 0 && command->formats &&
	    !parse_has_item(command->formats, options_format_word(o->format)))
		return log_usage(o, "%s: --format %s: must be one of %s", command->name,
				 options_format_word(o->format), command->formats);
	if (r == 0 && o->tree && command->no_tree)
		return log_usage(o, "%s does not take --tree: %s", command->name, command->no_tree);
	if (r == 0)
		r = options_check_taken(o);
	if (r == 0)
		r = check_group(o);
	if (r == 0)
		r = check_columns(o);
	if (r)
		return r;
	if ((o->pinned || o->files) && o->source == SOURCE_PROC)
		return log_usage(o, "--%s cannot be combined with --source proc",
				 o->pinned ? "pinned" : "files");
	if (o->tree && o->group && !o->group_keys.count)
		return log_usage(o, "--tree with --group-by %s: it needs several keys (user,name)",
				 options_group_key(o));
	if (o->tree && (o->top || o->format != FORMAT_TABLE))
		return log_usage(o, "--tree cannot be combined with --%s",
				 o->top ? "top" : "format but table");
	if (o->pss == PSS_NONE && o->verify != VERIFY_DEFAULT && o->verify &&
	    !(command->traits & COMMAND_COMPARES))
		return log_usage(o, "--verify cannot be combined with --pss none");
	if (o->readers > SOURCE_READERS_MAX)
		return log_usage(o, "--readers %d: must be at most %d", o->readers,
				 SOURCE_READERS_MAX);
	if (o->cgroup && !*o->cgroup)
		return log_usage(o, "--cgroup: no pattern in it");
	/* A variable that is not set may have made it: it would match everything. */
	if (o->filter && !*o->filter)
		return log_usage(o, "--filter: no pattern in it");
	return options_metrics(o) ? options_check_metrics(o) : 0;
}
