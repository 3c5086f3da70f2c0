// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The table of options and of the words that options take, which parsing, help and completions
 * read; and the loop that reads a command line into struct options.
 */
#include "session/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/parse.h"
#include "model/files.h"
#include "query/query_parse.h"
#include "session/log.h"
#include "source/source.h"

/* ---- the table ---- */

static const char *const format_words[] = {[FORMAT_TABLE] = "table",
					   [FORMAT_JSON] = "json",
					   [FORMAT_NDJSON] = "ndjson",
					   [FORMAT_CSV] = "csv",
					   [FORMAT_TSV] = "tsv",
					   [FORMAT_FOLDED] = "folded",
					   [FORMAT_OPENMETRICS] = "openmetrics",
					   [FORMAT_PROMETHEUS] = "prometheus",
					   [FORMAT_HTML] = "html",
					   [FORMAT_PPROF] = "pprof",
					   NULL};
static const char *const group_words[] = {
	"none",	     "name",   "app", "cmdline", "user", "unit", "container", "pod",
	"namespace", "cgroup", "fs",  "mount",	 "kind", "dir",	 "node",      NULL};
static const char *const color_words[] = {
	[COLOR_AUTO] = "auto", [COLOR_ALWAYS] = "always", [COLOR_NEVER] = "never", NULL};
static const char *const pss_words[] = {[PSS_AUTO] = "auto",
					[PSS_KERNEL] = "kernel",
					[PSS_ROLLUP] = "rollup",
					[PSS_NONE] = "none",
					NULL};
static const char *const source_words[] = {
	[SOURCE_AUTO] = "auto", [SOURCE_BPF] = "bpf", [SOURCE_PROC] = "proc", NULL};

static const char *const by_words[] = {
	[BY_CLASS] = "class", [BY_CGROUP] = "cgroup", [BY_NODE] = "node", NULL};
static const char *const delta_words[] = {
	[DELTA_AUTO] = "auto", [DELTA_LAST] = "last", [DELTA_START] = "start", NULL};

static const char *const stack_words[] = {
	[STACK_AUTO] = "auto", [STACK_DWARF] = "dwarf", [STACK_FP] = "fp", NULL};

#define AT(member) offsetof(struct options, member)

const struct option_entry option_table[] = {
	/* choosing rows */
	{"pid", 'p', "LIST", LIST, AT(pids), OPTIONS_CHOOSE_ROWS, "only these processes"},
	{"name", 0, "NAME", STRING, AT(name), OPTIONS_CHOOSE_ROWS,
	 "grow, peak: the processes of this name"},
	{"user", 'u', "LIST", LIST, AT(users), OPTIONS_CHOOSE_ROWS,
	 "only processes of these users (names or numbers)"},
	{"filter", 'f', "ERE", STRING, AT(filter), OPTIONS_CHOOSE_ROWS,
	 "only processes with a name or command line that matches (files: a path)"},
	{"cgroup", 0, "GLOB", STRING, AT(cgroup), OPTIONS_CHOOSE_ROWS,
	 "only processes in this cgroup, or in one within it"},
	{"unit", 0, "LIST", LIST, AT(units), OPTIONS_CHOOSE_ROWS,
	 "only processes of these systemd units (globs; ssh is ssh.service)"},
	{"mapping", 0, "ERE", STRING, AT(mapping), OPTIONS_CHOOSE_ROWS,
	 "maps: only mappings with a name that matches"},
	{"min", 0, "SIZE", SIZE, AT(min), OPTIONS_CHOOSE_ROWS,
	 "hide rows with a sort column below SIZE (K, M, G)"},
	{"changed", 0, NULL, FLAG, AT(changed), OPTIONS_CHOOSE_ROWS,
	 "only rows that changed since the last snapshot"},
	{"grow", 0, NULL, FLAG, AT(grow), OPTIONS_CHOOSE_ROWS,
	 "watch: only rows that grew by 1 MiB (--min), or steadily, since the start, most first"},
	/* what is shown */
	{"columns", 'o', "LIST", LIST, AT(columns), OPTIONS_SHOW,
	 "show these columns; +COL adds one before NAME; help lists them all"},
	{"long", 'l', NULL, FLAG, AT(long_table), OPTIONS_SHOW,
	 "more columns: swap, the parts of RSS, kernel; system: all classes, swap, files"},
	{"group-by", 'g', "KEY", CHOICE, AT(group), OPTIONS_SHOW,
	 "one row per name, app, cmdline, user, unit, container, pod, namespace or cgroup, or per "
	 "several of them (user,name); node: the NUMA nodes; maps: and per kind of memory; files: fs, "
	 "mount, kind or dir",
	 .words = group_words, .alias = query_group_key},
	{"apps", 0, "FILE", STRING, AT(apps), OPTIONS_SHOW,
	 "for -g app and -o +app: rules that name processes, lines NAME: ERE"},
	{"tree", 0, NULL, FLAG, AT(tree), OPTIONS_SHOW,
	 "each process below its parent, with the sums of all below it; with several keys of "
	 "--group-by the groups of each below those of the one before"},
	{"by-file", 0, NULL, FLAG, AT(by_file), OPTIONS_SHOW,
	 "maps: one row per file, of all processes unless some are named"},
	{"by-node", 0, NULL, FLAG, AT(by_node), OPTIONS_SHOW,
	 "maps: also the resident pages on each NUMA node"},
	{"paths", 0, NULL, FLAG, AT(paths), OPTIONS_SHOW,
	 "grow: one row for each path of callers, not for each function"},
	{"by", 0, "KEY", CHOICE, AT(by), OPTIONS_SHOW,
	 "system: RAM by class, by cgroup, or by NUMA node", .words = by_words},
	{"top", 'n', "N", COUNT, AT(top), OPTIONS_SHOW,
	 "only the first N rows, and read only what they need"},
	{"all", 'a', NULL, FLAG, AT(all), OPTIONS_SHOW, "every row, also on a terminal"},
	{"total", 0, NULL, FLAG, AT(total), OPTIONS_SHOW,
	 "only the total; with -H its values alone"},
	{"delta", 0, "SINCE", CHOICE, AT(delta), OPTIONS_SHOW,
	 "changes since the last snapshot, per second, or since the start", .words = delta_words},
	/* order */
	{"sort", 's', "COL[,COL...]", STRING, AT(sort), OPTIONS_SORT,
	 "sort by these columns: sizes and counts biggest first, all else ascending"},
	{"reverse", 'r', NULL, FLAG, AT(reverse), OPTIONS_SORT, "the other way round"},
	/* output */
	{"format", 'F', "F", CHOICE, AT(format), OPTIONS_OUTPUT,
	 "table, json, ndjson (a line a process), csv, tsv, folded (flame graphs), openmetrics, "
	 "prometheus, html (a page), pprof",
	 .words = format_words},
	{"json", 'J', NULL, SET, AT(format), OPTIONS_OUTPUT, "the same as -F json",
	 .value = FORMAT_JSON},
	{"output", 0, "FILE", STRING, AT(output), OPTIONS_OUTPUT,
	 "write to FILE, which appears whole or not at all (watch appends)"},
	{"bytes", 'b', NULL, FLAG, AT(bytes), OPTIONS_OUTPUT,
	 "exact bytes in tables, in place of KiB, MiB, GiB"},
	{"no-header", 'H', NULL, FLAG, AT(no_header), OPTIONS_OUTPUT,
	 "no header line (of tables and CSV)"},
	{"wide", 'w', NULL, FLAG, AT(wide), OPTIONS_OUTPUT,
	 "do not cut lines to the terminal's width"},
	{"numeric", 0, NULL, FLAG, AT(numeric), OPTIONS_OUTPUT, "user numbers in place of names"},
	{"color", 0, "WHEN", CHOICE, AT(color), OPTIONS_OUTPUT, "auto, always or never",
	 .words = color_words, .common = true},
	{"listen", 0, "LIST", LIST, AT(listen), OPTIONS_OUTPUT,
	 "serve: HOST:PORT, [IPV6]:PORT, :PORT (all), unix:/PATH (default: 127.0.0.1:19647)"},
	{"token-file", 0, "FILE", STRING, AT(token_file), OPTIONS_OUTPUT,
	 "serve: clients must send the token in FILE (Bearer)"},
	{"files", 0, NULL, FLAG, AT(files), OPTIONS_OUTPUT,
	 "serve: also /files and /files.json, which have names of files"},
	/* how it is measured */
	{"interval", 'i', "SEC", SECONDS, AT(interval_ms), OPTIONS_MEASURE,
	 "a snapshot every SEC seconds (serve: at most one), 0.1 and up (default: 1; record --keep 10)"},
	{"count", 'c', "N", COUNT, AT(count), OPTIONS_MEASURE,
	 "end after N snapshots (default: record 1; grow alone 10; else never)"},
	{"follow", 0, NULL, FLAG, AT(follow), OPTIONS_MEASURE,
	 "grow: the children of the processes, too"},
	{"debuginfod", 0, NULL, FLAG, AT(debuginfod), OPTIONS_MEASURE,
	 "grow: names also from the servers of DEBUGINFOD_URLS, which see build ids"},
	{"stack", 0, "HOW", CHOICE, AT(stack), OPTIONS_MEASURE,
	 "grow: stacks by dwarf (the tables of the programs) or fp (frame pointers)",
	 .words = stack_words},
	{"malloc", 0, "[=slow]", FLAG_OR_WORD, AT(malloc), OPTIONS_MEASURE,
	 "grow: by what malloc gave and is not freed, not by the code that first touched pages (slow: however slow the processes become)"},
	{"sample", 0, "N", STRING, AT(sample), OPTIONS_MEASURE,
	 "grow: the stacks of one page in N, at random (1: all; default: all up to 60,000 a second of a process on a CPU, then 16); with --malloc, one in N bytes (default: 16K, and more at high rates)"},
	{"keep", 0, "TIME[,SIZE]", STRING, AT(keep), OPTIONS_MEASURE,
	 "record: without an end, in a directory, and keep that much, such as 7d or 7d,500M"},
	{"dense", 0, "PERCENT", SHARE, AT(dense), OPTIONS_MEASURE,
	 "record --keep: a snapshot each second while less RAM or swap is left (default: 5; 0: never)"},
	{"stall", 0, "PERCENT", SHARE, AT(stall), OPTIONS_MEASURE,
	 "record --keep: also while tasks wait for memory in so much of the time (default: 10; 0: never)"},
	{"replay", 0, "FILE", STRING, AT(replay), OPTIONS_MEASURE,
	 "show what zmem-bpf record wrote (a file or a directory)"},
	{"at", 0, "TIME", STRING, AT(at), OPTIONS_MEASURE,
	 "show the recording at 03:14, 2026-11-22T03:14, -10m (before its end), or event:1 (incidents: that alone)"},
	{"since", 0, "TIME", STRING, AT(since), OPTIONS_MEASURE,
	 "only what happened in the recording from then on (TIME as for --at)"},
	{"until", 0, "TIME", STRING, AT(until), OPTIONS_MEASURE,
	 "only what happened up to then; a time of day: the next one after --since"},
	{"from", 0, "TIME", STRING, AT(from), OPTIONS_MEASURE,
	 "diff: from this moment of the recording: 03:00, -10m, event:1"},
	{"to", 0, "TIME", STRING, AT(to), OPTIONS_MEASURE,
	 "diff: up to this moment (default: now); a time of day: the next one after --from"},
	{"pss", 0, "HOW", CHOICE, AT(pss), OPTIONS_MEASURE,
	 "auto, kernel, rollup (/proc/PID/smaps_rollup) or none", .words = pss_words},
	{"source", 0, "FROM", CHOICE, AT(source), OPTIONS_MEASURE,
	 "counters from auto, bpf or proc", .words = source_words},
	{"verify", 0, "N", NUMBER_OR_ALL, AT(verify), OPTIONS_MEASURE,
	 "check PSS of N processes (default: 3), or of all, against smaps_rollup"},
	{"exact", 0, NULL, FLAG, AT(exact), OPTIONS_MEASURE,
	 "system: count every page frame; without it a sample above 64 GiB of RAM"},
	{"pinned", 0, NULL, FLAG, AT(pinned), OPTIONS_MEASURE,
	 "read only from the pin (zmem-bpf pin), which needs no capability"},
	{"compare", 0, NULL, FLAG, AT(compare), OPTIONS_MEASURE,
	 "doctor: the counters by BPF and by /proc; doctor --compare --help has its options"},
	/* advanced */
	{"remove", 0, NULL, FLAG, AT(remove), OPTIONS_ADVANCED, "remove the pin"},
	{"nice", 0, "N", NICE, AT(nice), OPTIONS_ADVANCED,
	 "record --keep, watch, top, serve: the nice value, from 0 to 19 (default: 5)"},
	{"readers", 0, "N", COUNT, AT(readers), OPTIONS_ADVANCED,
	 "read with N threads, up to 8 (default: by the work; watch, top, serve: 1)"},
	{"no-lock", 0, NULL, FLAG, AT(no_lock), OPTIONS_ADVANCED,
	 "record --keep, watch, top, serve: do not lock memory"},
	{"no-signals", 0, NULL, FLAG, AT(no_signals), OPTIONS_ADVANCED,
	 "record --keep: do not record signals that end processes"},
	{"no-ended", 0, NULL, FLAG, AT(no_ended), OPTIONS_ADVANCED,
	 "record: do not record peaks of processes that ended between snapshots"},
	{"timing", 0, NULL, FLAG, AT(timing), OPTIONS_ADVANCED,
	 "print on stderr how long each phase took"},
	{"verbose", 'v', NULL, FLAG, AT(verbose), OPTIONS_ADVANCED,
	 "print on stderr what was used and why", .common = true},
	{"quiet", 'q', NULL, FLAG, AT(quiet), OPTIONS_ADVANCED,
	 "print no notes on stderr, only errors", .common = true},
	{"help", 'h', NULL, FLAG, AT(help), OPTIONS_ADVANCED, "this text", .common = true},
	{"version", 'V', NULL, FLAG, AT(version), OPTIONS_ADVANCED, "the version", .common = true},
};
const size_t option_count = ARRAY_SIZE(option_table);

_Static_assert(ARRAY_SIZE(option_table) <= OPTIONS_MAX, "getopt has room for all options");

bool options_given(const struct options *o, const struct option_entry *e)
{
	size_t i = (size_t)(e - option_table);

	return o->given[i / 64] >> i % 64 & 1;
}

bool options_may_be_flag(const struct option_entry *e)
{
	return e->argument && *e->argument == '[';
}

bool options_taken(const struct option_entry *e, const struct command *command)
{
	return e->common || (command->options && parse_has_item(command->options, e->name));
}

const char *options_group_key(const struct options *o)
{
	return o->group_keys.count ? o->group_keys.text : o->group ? group_words[o->group] : NULL;
}

const struct field *options_group(const struct options *o)
{
	return o->group_keys.count ? &o->group_keys.joined
	       : o->group	   ? process_field(group_words[o->group])
				   : NULL;
}

const char *options_format_word(int format)
{
	return format_words[format];
}

bool options_metrics(const struct options *o)
{
	return o->format == FORMAT_OPENMETRICS || o->format == FORMAT_PROMETHEUS;
}

/* ---- one option ---- */

#define DAY_SECONDS (24 * 60 * 60u)

/* The last of two would silently win, and a user who gives two means both. */
static int refuse_second(const struct options *o, const struct option_entry *e, const char *first,
			 const char *second)
{
	return log_usage(o, "--%s was given twice, %s and %s, and takes one", e->name, first,
			 second);
}

/* Several columns with commas between them, to group by. */
static int set_groups(struct options *o, const struct option_entry *e, const char *arg, int *ret)
{
	const struct field *key[GROUP_KEYS_MAX];
	struct query_error error;
	char word[16];
	int count = query_read_keys(arg, key, &error);

	if (count < 0)
		snprintf(word, sizeof(word), "%.*s", (int)error.item_len, error.item);
	/* Files have one key: the message lists theirs. */
	if (count < 0 && parse_has_item(FILE_GROUP_WORDS, word)) {
		o->unknown = e;
		o->unknown_word = arg;
		return 0;
	}
	if (count < 0)
		return log_usage(o, "--%s %s: '%.*s': %s", e->name, arg, (int)error.item_len,
				 error.item, error.why);
	if (*ret)
		return refuse_second(o, e, options_group_key(o), arg);
	group_keys_set(&o->group_keys, key, (size_t)count);
	*ret = 1;
	return 0;
}

/* The command may follow the option, and not each command has all words: it is asked later. */
static int set_choice(struct options *o, const struct option_entry *e, const char *arg, int *ret)
{
	const char *meant = e->alias ? e->alias(arg) : arg;

	if (e->words == group_words && strchr(arg, ','))
		return set_groups(o, e, arg, ret);
	for (int i = 0; e->words[i]; i++) {
		if (strcmp(e->words[i], meant) == 0) {
			/* For other options the last choice counts: it overrules an alias. */
			if (e->words == group_words && *ret && strcmp(options_group_key(o), meant))
				return refuse_second(o, e, options_group_key(o), meant);
			*ret = i;
			return 0;
		}
	}
	o->unknown = e;
	o->unknown_word = arg;
	return 0;
}

static int set_number(const struct options *o, const struct option_entry *e, const char *arg,
		      unsigned least, unsigned most, int *ret)
{
	uint64_t n;

	if (parse_u64(arg, strlen(arg), most, &n) < 0 || n < least)
		return log_usage(o, "--%s %s: not a number from %u to %u", e->name, arg, least,
				 most);
	*ret = (int)n;
	return 0;
}

/* Seconds of a unit of time; 0: there is no such unit. */
static unsigned unit_seconds(const char *unit)
{
	static const struct {
		const char *word;
		unsigned seconds;
	} units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 60 * 60}, {"d", DAY_SECONDS}};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (strcmp(units[i].word, unit) == 0)
			return units[i].seconds;
	}
	return 0;
}

/* "1", "0.25", "1s", "10m". */
static int set_seconds(const struct options *o, const struct option_entry *e, const char *arg,
		       int *ret)
{
	unsigned thousandths = 0, unit = 0;
	uint64_t number = 0, ms = 0;
	int end = parse_thousandths(arg, strlen(arg), &number, &thousandths);

	if (end > 0)
		unit = unit_seconds(arg + end);
	if (unit && number <= DAY_SECONDS)
		ms = (number * 1000 + thousandths) * unit;
	if (ms < 100 || ms > DAY_SECONDS * UINT64_C(1000))
		return log_usage(o, "--%s %s: not a time from 0.1 to %u seconds", e->name, arg,
				 DAY_SECONDS);
	*ret = (int)ms;
	return 0;
}

static int set_number_or_all(const struct options *o, const struct option_entry *e, const char *arg,
			     int *ret)
{
	uint64_t n;

	if (strcmp(arg, "all") == 0) {
		*ret = VERIFY_ALL;
		return 0;
	}
	if (parse_u64(arg, strlen(arg), 1000000000, &n) < 0)
		return log_usage(o, "--%s %s: neither a number nor 'all'", e->name, arg);
	*ret = (int)n;
	return 0;
}

static int set_size(const struct options *o, const struct option_entry *e, const char *arg,
		    uint64_t *ret)
{
	uint64_t bytes;

	if (parse_size(arg, strlen(arg), &bytes) < 0)
		return log_usage(o, "--%s %s: not a size, such as 100M or 1.5G", e->name, arg);
	*ret = bytes;
	return 0;
}

static int set_text(const struct options *o, const struct option_entry *e, const char *arg,
		    const char **ret)
{
	if (*ret && strcmp(*ret, arg) != 0)
		return refuse_second(o, e, *ret, arg);
	*ret = arg;
	return 0;
}

static int add_list(const char *arg, char **list)
{
	char *joined;

	if (*list && strcmp(*list, arg) == 0)
		return 0;
	if (asprintf(&joined, "%s%s%s", *list ? *list : "", *list ? "," : "", arg) < 0)
		return log_error("reading the options: out of memory");
	free(*list);
	*list = joined;
	return 0;
}

static int set_flag_or_word(const struct options *o, const struct option_entry *e, const char *arg,
			    int *ret)
{
	struct text_part word = part_of(e->argument);

	part_cut_prefix(&word, "[=");
	part_cut_suffix(&word, "]");
	if (arg && (strlen(arg) != word.len || memcmp(arg, word.s, word.len) != 0))
		return log_usage(o, "--%s=%s: its only word is %.*s", e->name, arg, (int)word.len,
				 word.s);
	*ret = arg ? 2 : 1;
	return 0;
}

static int set_option(struct options *o, const struct option_entry *e, const char *arg)
{
	char *member = (char *)o + e->offset;
	size_t i = (size_t)(e - option_table);

	o->given[i / 64] |= UINT64_C(1) << i % 64;
	switch (e->kind) {
	case FLAG:
		*(bool *)member = true;
		return 0;
	case STRING:
		return set_text(o, e, arg, (const char **)member);
	case LIST:
		return add_list(arg, (char **)member);
	case COUNT:
		return set_number(o, e, arg, 1, 1000000000, (int *)member);
	case SECONDS:
		return set_seconds(o, e, arg, (int *)member);
	case NUMBER_OR_ALL:
		return set_number_or_all(o, e, arg, (int *)member);
	case CHOICE:
		return set_choice(o, e, arg, (int *)member);
	case NICE:
		return set_number(o, e, arg, 0, 19, (int *)member);
	case SHARE:
		return set_number(o, e, arg, 0, 100, (int *)member);
	case SIZE:
		return set_size(o, e, arg, (uint64_t *)member);
	case SET:
		*(int *)member = e->value;
		return 0;
	case FLAG_OR_WORD:
		return set_flag_or_word(o, e, arg, (int *)member);
	}
	return 0;
}

/* ---- the command line ---- */

#define WORD	  1   /* getopt's value of a word that is no option */
#define NO_COLOR  2   /* getopt's value of --no-color */
#define LONG_ONLY 256 /* the first value of long options */

static void make_getopt(char *letters, struct option *longs)
{
	/* '-': words in their order, whatever POSIXLY_CORRECT is. ':': tells a missing argument. */
	*letters++ = '-';
	*letters++ = ':';
	for (size_t i = 0; i < option_count; i++) {
		const struct option_entry *e = &option_table[i];

		longs[i] = (struct option){e->name,
					   options_may_be_flag(e) ? optional_argument
					   : e->argument	  ? required_argument
								  : no_argument,
					   NULL, LONG_ONLY + (int)i};
		if (!e->letter)
			continue;
		*letters++ = e->letter;
		if (e->argument)
			*letters++ = ':';
	}
	/* The words of many tools for --color never. */
	longs[option_count] = (struct option){"no-color", 0, NULL, NO_COLOR};
	*letters = '\0';
}

static const struct option_entry *find_entry(int c)
{
	if (c >= LONG_ONLY)
		return &option_table[c - LONG_ONLY];
	for (size_t i = 0; i < option_count; i++) {
		if (option_table[i].letter == c)
			return &option_table[i];
	}
	return NULL;
}

static int refuse_option(const struct options *o, const char *word)
{
	const char *near = NULL, *name = word + strspn(word, "-");
	unsigned least = 0;

	for (size_t i = 0; i < option_count; i++) {
		if (parse_is_nearer(option_table[i].name, name, strcspn(name, "="), &least))
			near = option_table[i].name;
	}
	return log_usage(o, "unknown option %s%s%s%s", word, near ? "; did you mean --" : "",
			 near ? near : "", near ? "?" : "");
}

static int bad_option(const struct options *o, int c, char **argv)
{
	const struct option_entry *e = optopt ? find_entry(optopt) : NULL;

	if (c == ':' && e)
		return log_usage(o, "--%s: it needs an argument, %s", e->name, e->argument);
	if (e && optopt >= LONG_ONLY)
		return log_usage(o, "--%s takes no argument", e->name);
	if (!optopt)
		return refuse_option(o, argv[optind - 1]);
	if (optopt > ' ' && optopt < 127)
		return log_usage(o, "unknown option -%c", optopt);
	return log_usage(o, "unknown option -\\x%02x", (unsigned char)optopt);
}

/* A process number is meant as --pid, where the command takes it. */
static int add_word(struct options *o, const char *word)
{
	bool is_pid = *word && word[strspn(word, "0123456789,")] == '\0';
	unsigned traits = o->command->traits;

	/* Which words follow is not known. */
	if (o->unknown_command)
		return 0;
	if (!o->named && !is_pid) {
		const struct command *command = command_find(o->commands, word);

		if (command)
			o->command = command;
		else
			o->unknown_command = word;
		o->named = command;
		return 0;
	}
	if (is_pid && traits & COMMAND_PIDS)
		return set_option(o, find_entry('p'), word);
	if (*word && traits & COMMAND_PIDS && !(traits & COMMAND_WORD) &&
	    parse_has_item(o->command->options, "filter"))
		return log_usage(o, "%s: not a process number; -f %s chooses processes by name",
				 word, word);
	if (o->word && !o->second && traits & COMMAND_WORDS) {
		o->second = word;
		return 0;
	}
	if (traits & COMMAND_RUNS)
		return log_usage(o, "%s: unexpected argument: a command stands behind --", word);
	if (o->word || !(traits & (COMMAND_WORD | COMMAND_WORDS)))
		return log_usage(o, "%s: unexpected argument", word);
	o->word = word;
	return 0;
}

int options_parse(struct options *o, const struct command_table *commands, int argc, char **argv)
{
	char letters[2 * OPTIONS_MAX + 3];
	struct option longs[OPTIONS_MAX + 2] = {};
	int c, r = 0;

	*o = (struct options){.commands = commands,
			      .command = commands->row,
			      .min = MIN_DEFAULT,
			      .verify = VERIFY_DEFAULT,
			      .nice = NICE_DEFAULT,
			      .dense = DENSE_DEFAULT,
			      .stall = STALL_DEFAULT};
	for (int i = 1; i < argc; i++) {
		size_t len = strlen(o->self);

		snprintf(o->self + len, sizeof(o->self) - len, "%s%s", i > 1 ? " " : "", argv[i]);
	}
	make_getopt(letters, longs);
	opterr = 0;
	while (!r && (c = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		if (c == '?' || c == ':')
			r = bad_option(o, c, argv);
		else if (c == WORD)
			r = add_word(o, optarg);
		else if (c == NO_COLOR)
			o->color = COLOR_NEVER;
		else
			r = set_option(o, find_entry(c), optarg);
		if (o->compare && o->command->comparing)
			o->command = o->command->comparing;
	}
	/* The words after "--". */
	if (!r && optind < argc && o->command->traits & COMMAND_RUNS) {
		o->command_line = argv + optind;
		return 0;
	}
	while (!r && optind < argc)
		r = add_word(o, argv[optind++]);
	o->continuous = o->command->traits & COMMAND_SERIES || o->keep;
	o->group_keys.numeric = o->numeric;
	return r;
}

void options_done(struct options *o)
{
	for (size_t i = 0; i < option_count; i++) {
		if (option_table[i].kind == LIST)
			free(*(char **)((char *)o + option_table[i].offset));
	}
}
