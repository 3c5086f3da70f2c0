// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The table of options, and the one loop that reads them into struct options. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/message.h"
#include "app/options.h"
#include "base/cleanup.h"
#include "base/parse.h"
#include "zmem/source.h"

enum kind {
	FLAG,	       /* bool */
	STRING,	       /* const char *, the last one counts */
	LIST,	       /* const char *, added to what was given before */
	COUNT,	       /* int, 1 and up */
	SECONDS,       /* int, milliseconds, 0.1 s and up */
	NUMBER_OR_ALL, /* int, 0 and up, VERIFY_ALL */
	CHOICE,	       /* int, the index of a word */
	SIZE,	       /* uint64_t, bytes */
	SET,	       /* int, `value`: a flag that stands for a choice */
};

struct entry {
	struct option_info info;
	enum kind kind;
	size_t offset;
	const char *const *words; /* of a CHOICE */
	int value;		  /* of a SET */
};

static const char *const format_words[] = {[FORMAT_TABLE] = "table",
					   [FORMAT_JSON] = "json",
					   [FORMAT_NDJSON] = "ndjson",
					   [FORMAT_CSV] = "csv",
					   [FORMAT_FOLDED] = "folded",
					   [FORMAT_OPENMETRICS] = "openmetrics",
					   [FORMAT_PROMETHEUS] = "prometheus",
					   [FORMAT_HTML] = "html",
					   NULL};
static const char *const group_words[] = {"none", "name",      "cmdline", "user",
					  "unit", "container", "cgroup",  NULL};
static const char *const color_words[] = {
	[COLOR_AUTO] = "auto", [COLOR_ALWAYS] = "always", [COLOR_NEVER] = "never", NULL};
static const char *const pss_words[] = {[PSS_AUTO] = "auto",
					[PSS_KERNEL] = "kernel",
					[PSS_ROLLUP] = "rollup",
					[PSS_NONE] = "none",
					NULL};
static const char *const source_words[] = {
	[SOURCE_AUTO] = "auto", [SOURCE_BPF] = "bpf", [SOURCE_PROC] = "proc", NULL};

#define AT(member) offsetof(struct options, member)

static const struct entry table[] = {
	{{"sort", 's', "COL[,COL...]",
	  "sort by these columns: sizes biggest first, all else ascending (default: pss)"},
	 STRING,
	 AT(sort)},
	{{"reverse", 'r', NULL, "smallest first"}, FLAG, AT(reverse)},
	{{"columns", 'o', "LIST", "show these columns; +COL appends; help lists them all"},
	 STRING,
	 AT(columns)},
	{{"top", 'n', "N", "only the first N rows, and read only what they need"}, COUNT, AT(top)},
	{{"all", 'a', NULL, "every row, also on a terminal"}, FLAG, AT(all)},
	{{"group-by", 'g', "KEY", "a row for each name, cmdline, user, unit, container or cgroup"},
	 CHOICE,
	 AT(group),
	 group_words},
	{{"tree", 0, NULL, "processes under their parents, each with all below it"},
	 FLAG,
	 AT(tree)},
	{{"pid", 'p', "LIST", "only these processes"}, LIST, AT(pids)},
	{{"user", 'u', "LIST", "only processes of these users (names or numbers)"},
	 LIST,
	 AT(users)},
	{{"filter", 'f', "ERE", "only processes whose name or command line matches"},
	 STRING,
	 AT(filter)},
	{{"cgroup", 0, "GLOB", "only processes in this cgroup, or in one within it"},
	 STRING,
	 AT(cgroup)},
	{{"min", 0, "SIZE", "only rows with so much of what they are sorted by (K, M, G)"},
	 SIZE,
	 AT(min)},
	{{"format", 'F', "F",
	  "table, json, ndjson (a line a process), csv, folded (flame graphs), openmetrics, prometheus, "
	  "html (a page)"},
	 CHOICE,
	 AT(format),
	 format_words},
	{{"json", 'J', NULL, "the same as -F json"}, SET, AT(format), NULL, FORMAT_JSON},
	{{"bytes", 'b', NULL, "exact bytes in tables, in place of KiB, MiB, GiB"}, FLAG, AT(bytes)},
	{{"no-header", 'H', NULL, "no header line"}, FLAG, AT(no_header)},
	{{"wide", 'w', NULL, "do not cut lines to the terminal's width"}, FLAG, AT(wide)},
	{{"numeric", 0, NULL, "user numbers in place of names"}, FLAG, AT(numeric)},
	{{"color", 0, "WHEN", "auto, always or never"}, CHOICE, AT(color), color_words},
	{{"pss", 0, "HOW", "auto, kernel, rollup (/proc/PID/smaps_rollup) or none"},
	 CHOICE,
	 AT(pss),
	 pss_words},
	{{"source", 0, "FROM", "counters from auto, bpf or proc"},
	 CHOICE,
	 AT(source),
	 source_words},
	{{"verify", 0, "N",
	  "check PSS of N processes against smaps_rollup (default: 3), of all, or of 0"},
	 NUMBER_OR_ALL,
	 AT(verify)},
	{{"count", 'c', "N", "record: so many snapshots (default: 1)"}, COUNT, AT(count)},
	{{"interval", 'i', "SEC",
	  "record: one every SEC seconds; serve: at most one in SEC; 0.1 and up (default: 1)"},
	 SECONDS,
	 AT(interval_ms)},
	{{"by-file", 0, NULL, "maps: summed by file, of all processes unless some are named"},
	 FLAG,
	 AT(by_file)},
	{{"total", 0, NULL, "only the total; with -H its figures alone"}, FLAG, AT(total)},
	{{"output", 0, "FILE", "write to FILE, which appears whole or not at all"},
	 STRING,
	 AT(output)},
	{{"replay", 0, "FILE", "read what zmem-bpf record wrote, not this machine"},
	 STRING,
	 AT(replay)},
	{{"listen", 0, "LIST",
	  "serve: HOST:PORT, [IPV6]:PORT, :PORT (all), unix:/PATH (default: 127.0.0.1:19647)"},
	 LIST,
	 AT(listen)},
	{{"token-file", 0, "FILE", "serve: who asks must know the token in it (Bearer)"},
	 STRING,
	 AT(token_file)},
	{{"timing", 0, NULL, "say on stderr where the time went"}, FLAG, AT(timing)},
	{{"verbose", 'v', NULL, "say on stderr what was used and why"}, FLAG, AT(verbose)},
	{{"quiet", 'q', NULL, "no notes on stderr, only errors"}, FLAG, AT(quiet)},
	{{"help", 'h', NULL, "this text"}, FLAG, AT(help)},
	{{"version", 'V', NULL, "the version"}, FLAG, AT(version)},
};

bool options_info(size_t i, struct option_info *ret)
{
	if (i >= ARRAY_SIZE(table))
		return false;
	*ret = table[i].info;
	return true;
}

static int set_choice(const struct entry *e, const char *arg, int *ret)
{
	char words[96] = "";

	for (int i = 0; e->words[i]; i++) {
		if (strcmp(e->words[i], arg) == 0) {
			*ret = i;
			return 0;
		}
		strcat(strcat(words, i ? ", " : ""), e->words[i]);
	}
	return message_usage("--%s %s: it is one of %s", e->info.name, arg, words);
}

const char *options_group_key(const struct options *o)
{
	return o->group ? group_words[o->group] : NULL;
}

const char *options_format_word(int format)
{
	return format_words[format];
}

bool options_metrics(const struct options *o)
{
	return o->format == FORMAT_OPENMETRICS || o->format == FORMAT_PROMETHEUS;
}

const char *options_pss_word(int choice)
{
	return pss_words[choice];
}

bool options_pss_choice(const char *word, int *ret_choice)
{
	for (int i = 0; pss_words[i]; i++) {
		if (strcmp(pss_words[i], word) == 0) {
			*ret_choice = i;
			return true;
		}
	}
	return false;
}

static int set_count(const struct entry *e, const char *arg, int *ret)
{
	uint64_t n;

	if (parse_u64(arg, strlen(arg), 1000000000, &n) < 0 || n == 0)
		return message_usage("--%s %s: not a number from 1 to 1000000000", e->info.name,
				     arg);
	*ret = (int)n;
	return 0;
}

/* "1", "0.25": digits behind the third are of no use here. */
static int set_seconds(const struct entry *e, const char *arg, int *ret)
{
	size_t whole = strspn(arg, "0123456789"), rest = arg[whole] == '.' ? whole + 1 : whole;
	size_t digits = strspn(arg + rest, "0123456789");
	uint64_t seconds = 0, ms = 0;
	bool ok = !arg[rest + digits] && whole + digits && (rest == whole || digits);

	if (whole)
		ok &= parse_u64(arg, whole, 1000000, &seconds) == 0;
	for (size_t i = 0; i < 3; i++)
		ms = ms * 10 + (rest > whole && i < digits ? (uint64_t)(arg[rest + i] - '0') : 0);
	ms += seconds * 1000;
	if (!ok || ms < 100 || ms > 1000000000)
		return message_usage("--%s %s: not a number of seconds from 0.1 to 1000000",
				     e->info.name, arg);
	*ret = (int)ms;
	return 0;
}

static int set_number_or_all(const struct entry *e, const char *arg, int *ret)
{
	uint64_t n;

	if (strcmp(arg, "all") == 0) {
		*ret = VERIFY_ALL;
		return 0;
	}
	if (parse_u64(arg, strlen(arg), 1000000000, &n) < 0)
		return message_usage("--%s %s: neither a number nor 'all'", e->info.name, arg);
	*ret = (int)n;
	return 0;
}

static int set_size(const struct entry *e, const char *arg, uint64_t *ret)
{
	uint64_t bytes;

	if (parse_size(arg, strlen(arg), &bytes) < 0)
		return message_usage("--%s %s: not a size (100M)", e->info.name, arg);
	*ret = bytes;
	return 0;
}

static int add_list(struct options *o, const char *arg, const char **list)
{
	char **owned = &o->owned[list == &o->pids ? 0 : list == &o->users ? 1 : 2];
	char *joined;

	if (asprintf(&joined, "%s%s%s", *list ? *list : "", *list ? "," : "", arg) < 0)
		return message_error("reading the options: out of memory");
	free(*owned);
	*owned = joined;
	*list = joined;
	return 0;
}

static int set_option(struct options *o, const struct entry *e, const char *arg)
{
	char *member = (char *)o + e->offset;

	switch (e->kind) {
	case FLAG:
		*(bool *)member = true;
		return 0;
	case STRING:
		*(const char **)member = arg;
		return 0;
	case LIST:
		return add_list(o, arg, (const char **)member);
	case COUNT:
		return set_count(e, arg, (int *)member);
	case SECONDS:
		return set_seconds(e, arg, (int *)member);
	case NUMBER_OR_ALL:
		return set_number_or_all(e, arg, (int *)member);
	case CHOICE:
		return set_choice(e, arg, (int *)member);
	case SIZE:
		return set_size(e, arg, (uint64_t *)member);
	case SET:
		*(int *)member = e->value;
		return 0;
	}
	return 0;
}

#define WORD	  1   /* getopt's value of what is no option */
#define LONG_ONLY 256 /* and of an option without a letter */

static void make_getopt(char *letters, struct option *longs)
{
	/* Words in their place whatever POSIXLY_CORRECT says; missing arguments told apart. */
	*letters++ = '-';
	*letters++ = ':';
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		const struct option_info *info = &table[i].info;

		longs[i] = (struct option){info->name, info->argument ? 1 : 0, NULL,
					   LONG_ONLY + (int)i};
		if (!info->letter)
			continue;
		*letters++ = info->letter;
		if (info->argument)
			*letters++ = ':';
	}
	*letters = '\0';
}

static const struct entry *find_entry(int c)
{
	if (c >= LONG_ONLY)
		return &table[c - LONG_ONLY];
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		if (table[i].info.letter == c)
			return &table[i];
	}
	return NULL;
}

static int bad_option(int c, char **argv)
{
	const struct entry *e = optopt ? find_entry(optopt) : NULL;

	if (c == ':' && e)
		return message_usage("--%s: it needs an argument, %s", e->info.name,
				     e->info.argument);
	if (e && optopt >= LONG_ONLY)
		return message_usage("--%s takes no argument", e->info.name);
	if (!optopt)
		return message_usage("unknown option %s", argv[optind - 1]);
	if (optopt > ' ' && optopt < 127)
		return message_usage("unknown option -%c", optopt);
	return message_usage("unknown option -\\x%02x", (unsigned char)optopt);
}

/* How many words a command takes. */
static size_t words_of(const char *command)
{
	if (strcmp(command, "record") == 0)
		return 1;
	return strcmp(command, "maps") == 0 ? SIZE_MAX : 0;
}

static int add_word(struct options *o, const char *word)
{
	if (!o->named) {
		o->command = word;
		o->named = true;
		return 0;
	}
	if (o->word_count >= words_of(o->command))
		return message_usage("%s: unexpected argument", word);
	o->words[o->word_count++] = word;
	return 0;
}

int options_parse(struct options *o, int argc, char **argv)
{
	char letters[2 * ARRAY_SIZE(table) + 3];
	struct option longs[ARRAY_SIZE(table) + 1] = {};
	int c, r = 0;

	*o = (struct options){.command = "snapshot", .verify = VERIFY_DEFAULT};
	o->words = calloc((size_t)argc + 1, sizeof(*o->words));
	if (!o->words)
		return message_error("reading the options: out of memory");
	make_getopt(letters, longs);
	opterr = 0;
	while (!r && (c = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		if (c == '?' || c == ':')
			r = bad_option(c, argv);
		else if (c == WORD)
			r = add_word(o, optarg);
		else
			r = set_option(o, find_entry(c), optarg);
	}
	/* Behind "--". */
	while (!r && optind < argc)
		r = add_word(o, argv[optind++]);
	return r;
}

void options_done(struct options *o)
{
	for (size_t i = 0; i < ARRAY_SIZE(o->owned); i++)
		free(o->owned[i]);
	free(o->words);
}
