// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* argv → command → exit code. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/commands_table.h"
#include "cli/help.h"
#include "cli/log.h"
#include "cli/secure.h"
#include "cli/stack.h"
#include "base/array.h"
#include "base/parse.h"
#include "model/column.h"
#include "render/render.h"
#include "source/source.h"

/* A series is not to be had for each command line, nor for each of any number of groups. */
int commands_check_metrics(const struct options *o)
{
	const char *key = options_group_key(o);

	if (key && strcmp(key, "cmdline") == 0)
		return log_usage("--group-by cmdline: metrics have no command lines in them");
	if (o->total)
		return log_usage("--total: it goes with no --format of metrics");
	if (o->top > METRICS_GROUPS_MAX)
		return log_usage("--top %d: metrics have at most %d groups", o->top,
				 METRICS_GROUPS_MAX);
	return 0;
}

/* An option of which nothing would come is refused: whoever gave it would miss it. */
static int check_heeded(const struct options *o)
{
	struct option_info info;

	for (size_t i = 0; options_info(i, &info); i++) {
		if (options_given(o, i) && !options_taken(&info, o->command))
			return log_usage("%s: it takes no --%s", o->command, info.name);
	}
	return 0;
}

/* What JSON has as it is, and command lines: nothing else can be added to it, and nothing left out.
 */
static bool are_keys(const char *columns)
{
	struct column_list list = {};
	const char *bad;
	size_t len;

	if (*columns != '+')
		return false;
	if (column_list_parse(&list, columns, &bad, &len) < 0)
		return true; /* whoever reads them says so */
	for (size_t i = 0; i < list.count; i++) {
		if (list.item[i]->kind == COLUMN_PERCENT || list.item[i]->kind == COLUMN_CHANGE)
			return false;
	}
	return true;
}

/* What formats have of their own, and so do not take from --columns. */
static int check_columns(const struct options *o)
{
	bool keys = o->format == FORMAT_JSON || o->format == FORMAT_NDJSON;
	bool kept = parse_has_item("record serve", o->command);
	const char *what = kept ? o->command : options_format_word(o->format);

	if (!o->columns)
		return 0;
	if (kept ? strcmp(o->columns, "+cmdline") != 0 : keys && !are_keys(o->columns))
		return log_usage("%s: --columns %s: it has all keys, +cmdline alone can be added",
				 what, o->columns);
	if (keys && o->group)
		return log_usage("%s: --columns: it goes with no --group-by", what);
	if (o->format == FORMAT_FOLDED || options_metrics(o))
		return log_usage("--columns: it goes with no --format %s", what);
	return 0;
}

/* A recording holds values: nothing is read anew for it. */
static int check_replay(const struct options *o)
{
	const char *how = o->source != SOURCE_AUTO	? "source"
			  : o->pinned			? "pinned"
			  : o->pss != PSS_AUTO		? "pss"
			  : o->verify != VERIFY_DEFAULT ? "verify"
							: NULL;

	if (!o->replay)
		return 0;
	if (strcmp(o->command, "maps") == 0)
		return log_usage("maps: it takes no --replay: a recording holds no mappings");
	if (strcmp(o->command, "compare") == 0)
		return log_usage(
			"compare: it takes no --replay: a recording holds one side alone (compare "
			"--json keeps both)");
	return how ? log_usage("--%s cannot be combined with --replay: a recording holds the "
			       "values that were read",
			       how)
		   : 0;
}

static int check_options(const struct options *o)
{
	int r = check_replay(o);

	if (r == 0)
		r = check_heeded(o);
	if (r == 0)
		r = check_columns(o);
	if (r)
		return r;
	if (o->continuous && o->format != FORMAT_TABLE && o->format != FORMAT_NDJSON)
		return log_usage("%s: --format %s: it is table or ndjson", o->command,
				 options_format_word(o->format));
	if (!o->continuous && o->format > FORMAT_JSON && strcmp(o->command, "snapshot") != 0)
		return log_usage("%s: --format %s: it is table or json", o->command,
				 options_format_word(o->format));
	if (o->pinned && o->source == SOURCE_PROC)
		return log_usage("--pinned: it goes with no --source proc");
	if (o->tree && (o->group || o->top || o->format != FORMAT_TABLE))
		return log_usage("--tree: it goes with no --%s", o->group ? "group-by"
								 : o->top ? "top"
									  : "format but table");
	if (o->pss == PSS_NONE && o->verify != VERIFY_DEFAULT && o->verify &&
	    strcmp(o->command, "compare") != 0)
		return log_usage("--verify: it goes with no --pss none");
	if (o->cgroup && !*o->cgroup)
		return log_usage("--cgroup: no pattern in it");
	return options_metrics(o) ? commands_check_metrics(o) : 0;
}

static int run_command(struct options *o)
{
	o->continuous = parse_has_item("watch top", o->command);
	if (o->help)
		return help_text(o->named ? o->command : NULL);
	if (o->version) {
		printf("zmem-bpf %s\n", ZMEM_VERSION);
		return log_stdout_done();
	}
	for (size_t i = 0; i < command_count; i++) {
		if (strcmp(command_table[i].info.name, o->command) == 0) {
			bool help = o->columns && strcmp(o->columns, "help") == 0;
			int r = help ? check_heeded(o) : check_options(o);

			if (r == 0 && help)
				return help_columns(o->continuous);
			return r ? r : command_table[i].run(o);
		}
	}
	return log_usage("%s: there is no such command", o->command);
}

/*
 * A closed stdin, stdout or stderr would be the number of the next file we open, and output would
 * go there. What is closed is opened so that using it fails as if it were closed.
 */
static void occupy_standard_fds(void)
{
	for (int fd = 0; fd <= 2; fd++) {
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", fd ? O_RDONLY : O_WRONLY);
	}
}

int commands_run(int argc, char **argv)
{
	/* More than is ever printed: stdio forgets why it failed to write in between. */
	static char buf[65536];
	struct options o;
	int r;

	occupy_standard_fds();
	if (!isatty(STDOUT_FILENO))
		setvbuf(stdout, buf, _IOFBF, sizeof(buf));
	/* A reader that went away is told by write(), not by a signal in the middle of a file. */
	signal(SIGPIPE, SIG_IGN);
	/* Nor is a file that may not be as long (RLIMIT_FSIZE): what is half written goes again. */
	signal(SIGXFSZ, SIG_IGN);
	r = stack_suffices();
	if (r)
		return r;
	r = options_parse(&o, argc, argv);
	if (r == 0)
		r = secure_start(parse_has_item("pin unpin", o.command), &o.held);
	if (r == 0)
		r = run_command(&o);
	options_done(&o);
	return r;
}
