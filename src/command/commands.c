// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * From argv to an exit code: the table of commands, --help, which options cannot be combined, and
 * what is set up before any command.
 */
#include "command/commands.h"

#include <errno.h>
#include <ctype.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/parse.h"
#include "model/column.h"
#include "model/files.h"
#include "query/query_parse.h"
#include "report/report.h"
#include "session/launch.h"
#include "session/log.h"
#include "session/secure.h"
#include "source/source.h"
#include "top/view.h"
#include "write/text.h"

/* ---- the table ---- */

#ifdef ZMEM_STATIC
#define SERVE_HELP "not in this static program"
int serve_check(char *why, size_t cap)
{
	snprintf(
		why, cap,
		"the static program has none (libmicrohttpd needs the libraries of GnuTLS: use the "
		"shared one)");
	return -ENOTSUP;
}

int command_serve(const struct options *o)
{
	char why[160];

	(void)o;
	serve_check(why, sizeof(why));
	return log_error("serve: %s", why);
}
#else
#define SERVE_HELP "HTTP: metrics for Prometheus, JSON, a live page"
#endif

static int command_help(const struct options *o);

static int command_version(const struct options *o)
{
	(void)o;
	printf("zmem-bpf %s\n", ZMEM_VERSION);
	return log_stdout_done();
}

#define TABLE_JSON "table, json"

const struct command_entry command_table[] = {
	{{"snapshot",
	  "zmem-bpf",
	  "[snapshot] [PID]... [OPTION]...",
	  "RAM and swap of every process",
	  "table, json, ndjson, csv, folded, openmetrics, prometheus, html",
	  {"zmem-bpf -s swap_pss -n 10", "zmem-bpf -g container",
	   "zmem-bpf -f 'postgres|mysqld' --json"}},
	 command_snapshot},
	{{"compare",
	  "zmem-bpf-compare",
	  "compare [OPTION]...",
	  "the same processes by BPF and by /proc",
	  TABLE_JSON,
	  {"zmem-bpf compare", "zmem-bpf compare -p 1234 -a",
	   "zmem-bpf compare --json --output compare.json"}},
	 command_compare},
	{{"system",
	  "zmem-bpf-system",
	  "system [OPTION]...",
	  "the machine: RAM, swap, and whether the totals reconcile",
	  TABLE_JSON,
	  {"zmem-bpf system", "zmem-bpf system --pss none", "zmem-bpf system --json"}},
	 command_system},
	{{"maps",
	  "zmem-bpf-maps",
	  "maps [PID]... [OPTION]...",
	  "processes by mapping; files that are mapped; heaps and stacks by program",
	  TABLE_JSON,
	  {"zmem-bpf maps 1234", "zmem-bpf maps --by-file -n 10",
	   "zmem-bpf maps -g name --mapping '^.heap'"}},
	 command_maps},
	{{"files",
	  "zmem-bpf-files",
	  "files [OPTION]...",
	  "files with pages in RAM or swap: shared memory, tmpfs, page cache",
	  "table, json, ndjson, csv, html",
	  {"zmem-bpf files -n 10 -o +holders", "zmem-bpf files -g kind",
	   "zmem-bpf files -f '^/tmp/' -s swapped"}},
	 command_files},
	{{"watch",
	  "zmem-bpf-watch",
	  "watch [OPTION]...",
	  "a snapshot every second, with what has changed",
	  "table, ndjson, csv",
	  {"zmem-bpf watch -n 10", "zmem-bpf watch --grow -i 10 -c 7",
	   "zmem-bpf watch -F ndjson --changed --output memory.log"}},
	 command_watch},
	{{"grow",
	  "zmem-bpf-grow",
	  "grow [PID]... [-- COMMAND]",
	  "which code made processes grow: resident memory by stack",
	  "table, json, folded, html, pprof",
	  {"zmem-bpf grow 1234 -c 60", "zmem-bpf grow --name postgres --follow -F folded",
	   "zmem-bpf grow -- python3 job.py"}},
	 command_grow},
	{{"record",
	  "zmem-bpf-record",
	  "record FILE|DIR [OPTION]...",
	  "snapshots for --replay",
	  TABLE_JSON,
	  {"zmem-bpf record now.zmem", "zmem-bpf record hour.zmem -i 60 -c 60",
	   "zmem-bpf record --keep 7d /var/lib/zmem-bpf"}},
	 command_record},
	{{"diff",
	  "zmem-bpf-diff",
	  "diff [FILE]... [OPTION]...",
	  "what changed between two moments",
	  "table, json, ndjson, csv",
	  {"zmem-bpf diff --from -1h -g name", "zmem-bpf diff --from 03:00 --to 03:14",
	   "zmem-bpf diff before.zmem after.zmem"}},
	 command_diff},
	{{"incidents",
	  "zmem-bpf-incidents",
	  "incidents [DIR] [OPTION]...",
	  "OOM kills in a recording: who held most, who had grown",
	  TABLE_JSON ", html",
	  {"zmem-bpf incidents", "zmem-bpf incidents --since -1d --json",
	   "zmem-bpf incidents -F html --output night.html"}},
	 command_incidents},
	{{"top",
	  "zmem-bpf-top",
	  "top [OPTION]...",
	  "live, with keys (? shows them)",
	  NULL,
	  {"zmem-bpf top", "zmem-bpf top -g name -s swap_pss", "zmem-bpf top --replay hour.zmem"}},
	 command_top},
	{{"serve",
	  "zmem-bpf-serve",
	  "serve [OPTION]...",
	  SERVE_HELP,
	  NULL,
	  {"zmem-bpf serve", "zmem-bpf serve --listen unix:/run/zmem-bpf.sock",
	   "zmem-bpf serve --listen :19647 --token-file FILE"}},
	 command_serve},
	{{"pin",
	  "zmem-bpf-pin",
	  "pin GROUP",
	  "load the programs once, for the members of a group (root)",
	  NULL,
	  {"zmem-bpf pin zmem"}},
	 command_pin},
	{{"unpin", "zmem-bpf-pin", "unpin", "remove them (root)"}, command_unpin},
	{{"doctor",
	  "zmem-bpf-doctor",
	  "doctor [-v]",
	  "what works on this machine, and what to do about the rest",
	  NULL,
	  {"zmem-bpf doctor", "zmem-bpf doctor -v"}},
	 command_doctor},
	{{"help", "zmem-bpf", "help [COMMAND]", "this text, or the options of a command"},
	 command_help},
	{{"version", "zmem-bpf", "version", "the version of this program"}, command_version},
};
const size_t command_count = ARRAY_SIZE(command_table);

static const struct command_entry *find_command(const char *name);

/* ---- --help, -o help ---- */

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
static int usage_width(void)
{
	size_t width = 0;

	for (size_t i = 0; i < command_count; i++) {
		size_t len = strlen(command_table[i].info.usage);

		width = len > width ? len : width;
	}
	return (int)width;
}

/* The usage of that command, of all if NULL. False: there is no such command. */
static bool print_usage(const char *name)
{
	int width = usage_width();
	bool begun = false;

	for (size_t i = 0; i < command_count; i++) {
		const struct command_info *command = &command_table[i].info;

		if (name && strcmp(name, command->name) != 0)
			continue;
		printf("%s zmem-bpf %-*s  ", begun ? "      " : "usage:", width, command->usage);
		print_folded(command->help, USAGE_BEFORE + (unsigned)width + 2);
		begun = true;
	}
	return begun;
}

static void print_option(const struct option_info *info, const struct command_info *command)
{
	size_t own = strlen(command->name);
	char text[48], letter[8] = "    ";
	const char *help = info->help;
	bool formats = strcmp(info->name, "format") == 0 && command->formats;

	/* "maps: only mappings …" */
	if (strncmp(help, command->name, own) == 0 && strncmp(help + own, ": ", 2) == 0)
		help += own + 2;
	if (info->letter)
		snprintf(letter, sizeof(letter), "-%c, ", info->letter);
	snprintf(text, sizeof(text), "%s--%s%s%s", letter, info->name, info->argument ? " " : "",
		 info->argument ? info->argument : "");
	printf("  %-26s ", text);
	print_folded(formats ? command->formats : help, OPTIONS_INDENT);
}

static void print_options(const struct command_info *command)
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
		const struct option_info *info = &option_table[i].info;

		if (!options_taken(info, command->name))
			continue;
		if ((int)info->section != section)
			printf("\n%s:\n", heading[info->section]);
		section = (int)info->section;
		print_option(info, command);
	}
}

static void print_examples(const struct command_info *command)
{
	printf("\nExamples:\n");
	for (int i = 0; i < COMMAND_EXAMPLES && command->example[i]; i++)
		printf("  %s\n", command->example[i]);
}

static void print_keys(void)
{
	const char *line;

	printf("\nKeys:\n");
	for (size_t i = 0; (line = view_key_help(i)); i++)
		printf("  %s\n", line);
}

/* The help of a command, or that of the program: all commands and the options of snapshot. */
static int print_help(const char *name)
{
	const struct command_entry *named = name ? find_command(name) : NULL;
	const struct command_info *command = named ? &named->info : &command_table[0].info;

	print_usage(named ? command->name : NULL);
	print_options(command);
	if (strcmp(command->name, "top") == 0)
		print_keys();
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
		       "4 compare or --verify found a difference it cannot explain.\n");
	return log_stdout_done();
}

static int refuse_command(const char *name)
{
	const struct options none = {.named = false};
	const char *near = NULL;
	unsigned least = 0;

	for (size_t i = 0; i < command_count; i++) {
		const char *word = command_table[i].info.name;

		if (parse_is_nearer(word, name, strlen(name), &least))
			near = word;
	}
	if (!near && *name)
		return log_usage(&none,
				 "%s: there is no such command; -f %s chooses processes by name",
				 name, name);
	return log_usage(&none, "%s: there is no such command%s%s%s", name,
			 near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

static int command_help(const struct options *o)
{
	if (o->word && !find_command(o->word))
		return refuse_command(o->word);
	return print_help(o->word);
}

/* -o help. `changes`: also the columns that only watch and top have. */
static int print_columns(bool changes)
{
	for (size_t i = 0; i < column_count; i++)
		printf("%-16s %s\n", column_table[i]->key, column_table[i]->help);
	for (size_t i = 0; changes && i < COUNTERS_OF_PROCESS; i++)
		printf("%-16s %s\n", column_changes[i]->key, column_changes[i]->help);
	if (changes)
		printf("%-16s %s\n", column_grew.key, column_grew.help);
	return log_stdout_done();
}

/* The same of files. Headings are capitals. */
static int print_file_columns(void)
{
	for (int i = 0; i < FILE_COLUMNS; i++) {
		const char *word = file_column_header(i);
		int len = 0;

		for (; word[len]; len++)
			putchar(tolower((unsigned char)word[len]));
		printf("%*s %s\n", 16 - len, "", file_column_help(i));
	}
	return log_stdout_done();
}

/* ---- options that cannot be combined ---- */

/* A database keeps every series of every group, so metrics limit the number of groups. */
int commands_check_metrics(const struct options *o)
{
	const char *key = options_group_key(o);

	if (key && strcmp(key, "cmdline") == 0)
		return log_usage(o, "--group-by cmdline: metrics hold no command lines");
	if (o->total)
		return log_usage(o, "--total cannot be combined with metrics");
	if (o->top > METRICS_GROUPS_MAX)
		return log_usage(o, "--top %d: metrics have at most %d groups", o->top,
				 METRICS_GROUPS_MAX);
	return 0;
}

/* An option that the command does not take is refused, not ignored. */
static int check_taken(const struct options *o)
{
	for (size_t i = 0; i < option_count; i++) {
		const struct option_entry *e = &option_table[i];

		if (options_given(o, e) && !options_taken(&e->info, o->command))
			return log_usage(o, "%s does not take --%s", o->command, e->info.name);
	}
	return 0;
}

/* Whether the columns only append to what JSON has: no key of JSON can be left out. */
static bool are_json_keys(const char *columns)
{
	struct column_list list = {};
	const char *bad;
	size_t len;

	if (*columns != '+')
		return false;
	if (column_list_parse(&list, columns, &bad, &len) < 0)
		return true; /* query_args_read() prints the message */
	for (size_t i = 0; i < list.count; i++) {
		if (list.item[i]->kind == COLUMN_PERCENT || list.item[i]->kind == COLUMN_CHANGE)
			return false;
	}
	return true;
}

/* Documents of files have all keys but one, which takes time. */
static int check_file_columns(const struct options *o)
{
	if (o->format == FORMAT_TABLE || strcmp(o->columns, "+holders") == 0)
		return 0;
	return log_usage(o,
			 "%s: --columns %s: it has all keys, +holders alone can be added to files",
			 options_format_word(o->format), o->columns);
}

/* JSON, recordings, serve, metrics and folded have fixed columns; some of them take +cmdline. */
static int check_columns(const struct options *o)
{
	bool keys = o->format == FORMAT_JSON || o->format == FORMAT_NDJSON;
	bool collects_all = parse_has_item("record serve", o->command);
	const char *what = collects_all ? o->command : options_format_word(o->format);

	if (!o->columns)
		return 0;
	if (strcmp(o->command, "files") == 0)
		return check_file_columns(o);
	if (collects_all ? strcmp(o->columns, "+cmdline") != 0 : keys && !are_json_keys(o->columns))
		return log_usage(o,
				 "%s: --columns %s: it has all keys, +cmdline alone can be added",
				 what, o->columns);
	if (keys && o->group)
		return log_usage(o, "%s: --columns cannot be combined with --group-by", what);
	if (o->format == FORMAT_FOLDED || options_metrics(o))
		return log_usage(o, "--columns cannot be combined with --format %s", what);
	return 0;
}

/* A recording holds values: nothing is measured for it. */
static int check_replay(const struct options *o)
{
	const char *how = o->source != SOURCE_AUTO	? "source"
			  : o->pinned			? "pinned"
			  : o->pss != PSS_AUTO		? "pss"
			  : o->verify != VERIFY_DEFAULT ? "verify"
							: NULL;

	if (!o->replay)
		return 0;
	if (o->files)
		return log_usage(
			o, "--files cannot be combined with --replay: a recording has no files");
	if (strcmp(o->command, "maps") == 0)
		return log_usage(o, "maps does not take --replay: a recording holds no mappings");
	if (strcmp(o->command, "compare") == 0)
		return log_usage(o,
				 "compare does not take --replay: a recording holds one side alone "
				 "(compare --json keeps both)");
	return how ? log_usage(o,
			       "--%s cannot be combined with --replay: a recording holds the "
			       "values that were read",
			       how)
		   : 0;
}

/* Files have other groups than processes. */
const char *commands_group_words(const char *command)
{
	return strcmp(command, "files") == 0 ? FILE_GROUP_WORDS : GROUP_WORDS;
}

static int check_group(const struct options *o)
{
	const char *key = options_group_key(o);
	bool files = strcmp(o->command, "files") == 0;

	if (key && files && o->format == FORMAT_HTML)
		return log_usage(o,
				 "files: --group-by: the page has files, and groups them itself");
	if (!key || strcmp(key, "none") == 0 || parse_has_item(FILE_GROUP_WORDS, key) == files)
		return 0;
	return log_usage(o, "%s: --group-by %s: must be one of %s", o->command, key,
			 commands_group_words(o->command));
}

/* A word that no command has: the message lists those of this command. */
static int refuse_choice(const struct options *o, const struct command_info *command)
{
	const struct option_entry *e = o->unknown;
	cleanup(strbuf_done) struct strbuf all = {};
	const char *words = NULL;

	if (strcmp(e->info.name, "format") == 0)
		words = command->formats;
	else if (strcmp(e->info.name, "group-by") == 0)
		words = commands_group_words(command->name);
	for (size_t i = 0; e->words[i]; i++)
		strbuf_printf(&all, "%s%s", i ? ", " : "", e->words[i]);
	return log_usage(o, "%s: --%s %s: must be one of %s", command->name, e->info.name,
			 o->unknown_word, words ? words : strbuf_str(&all));
}

/* The moments of a recording. */
static int check_moments(const struct options *o)
{
	const char *moment = o->at ? "at" : o->since ? "since" : o->until ? "until" : NULL;

	return moment && !o->replay && strcmp(o->command, "incidents") != 0
		       ? log_usage(o, "--%s needs --replay", moment)
		       : 0;
}

static int check_options(const struct options *o, const struct command_info *command)
{
	int r = check_replay(o);

	/* Before the options that are taken: -J is a format. */
	if (r == 0 && command->formats &&
	    !parse_has_item(command->formats, options_format_word(o->format)))
		return log_usage(o, "%s: --format %s: must be one of %s", o->command,
				 options_format_word(o->format), command->formats);
	if (r == 0)
		r = check_taken(o);
	if (r == 0)
		r = check_group(o);
	if (r == 0)
		r = check_moments(o);
	if (r == 0)
		r = check_columns(o);
	if (r)
		return r;
	if ((o->pinned || o->files) && o->source == SOURCE_PROC)
		return log_usage(o, "--%s cannot be combined with --source proc",
				 o->pinned ? "pinned" : "files");
	if (o->tree && (o->group || o->top || o->format != FORMAT_TABLE))
		return log_usage(o, "--tree cannot be combined with --%s",
				 o->group ? "group-by"
				 : o->top ? "top"
					  : "format but table");
	if (o->pss == PSS_NONE && o->verify != VERIFY_DEFAULT && o->verify &&
	    strcmp(o->command, "compare") != 0)
		return log_usage(o, "--verify cannot be combined with --pss none");
	if (o->readers > SOURCE_READERS_MAX)
		return log_usage(o, "--readers %d: must be at most %d", o->readers,
				 SOURCE_READERS_MAX);
	if (o->cgroup && !*o->cgroup)
		return log_usage(o, "--cgroup: no pattern in it");
	/* Of a variable that is not set: it would match everything. */
	if (o->filter && !*o->filter)
		return log_usage(o, "--filter: no pattern in it");
	return options_metrics(o) ? commands_check_metrics(o) : 0;
}

/* ---- the start of the program ---- */

static const struct command_entry *find_command(const char *name)
{
	/* The build runs it: help and completions do not list it. */
	static const struct command_entry completion = {{"completion"}, command_completion};

	for (size_t i = 0; i < command_count; i++) {
		if (strcmp(command_table[i].info.name, name) == 0)
			return &command_table[i];
	}
	return strcmp(name, completion.info.name) == 0 ? &completion : NULL;
}

static int run_command(struct options *o)
{
	const struct command_entry *command = find_command(o->command);
	bool help = o->columns && strcmp(o->columns, "help") == 0;
	int r;

	o->continuous = parse_has_item("watch top", o->command) || o->keep;
	if (o->help)
		return print_help(o->named ? o->command : NULL);
	if (o->version)
		return command_version(o);
	if (!command)
		return refuse_command(o->command);
	if (o->unknown && !options_taken(&o->unknown->info, o->command))
		return log_usage(o, "%s does not take --%s", o->command, o->unknown->info.name);
	if (o->unknown)
		return refuse_choice(o, &command->info);
	r = help ? check_taken(o) : check_options(o, &command->info);
	if (r)
		return r;
	if (!help)
		return command->run(o);
	return strcmp(o->command, "files") == 0 ? print_file_columns()
						: print_columns(o->continuous && !o->keep);
}

/*
 * The next file that is opened would get the number of a closed stdin, stdout or stderr, and output
 * would go to that file. Each closed one is opened so that using it fails, as if it were closed.
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
	/* Larger than any output: if a write before the end fails, stdio forgets why. */
	static char buf[65536];
	cleanup(launch_close) struct launch run = LAUNCH_NONE;
	struct options o;
	int r;

	occupy_standard_fds();
	if (!isatty(STDOUT_FILENO))
		setvbuf(stdout, buf, _IOFBF, sizeof(buf));
	/* write() reports a closed pipe; a signal would end the program in the middle of a file. */
	signal(SIGPIPE, SIG_IGN);
	/* Likewise a file beyond RLIMIT_FSIZE: its first half is removed again. */
	signal(SIGXFSZ, SIG_IGN);
	r = secure_stack();
	if (r)
		return r;
	r = options_parse(&o, argc, argv);
	if (r == 0 && o.command_line) {
		r = launch_fork(&run, o.command_line);
		o.run = &run;
	}
	if (r == 0)
		r = secure_start(parse_has_item("pin unpin", o.command),
				 o.keep || parse_has_item("doctor serve", o.command),
				 parse_has_item("grow", o.command), &o.held);
	/*
	 * Tables have local times. With file capabilities the environment is gone, and TZ with it.
	 * Later a sandbox denies the file of the zone.
	 */
	tzset();
	if (r == 0)
		r = run_command(&o);
	options_done(&o);
	return r;
}
