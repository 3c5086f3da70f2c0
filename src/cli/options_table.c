// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Every option and every word an option takes, once: parsing, help and completions come from it. */
#include <stddef.h>
#include <string.h>

#include "cli/options_table.h"
#include "base/array.h"
#include "base/parse.h"
#include "source/source.h"

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

static const char *const delta_words[] = {[DELTA_LAST] = "last", [DELTA_START] = "start", NULL};

#define AT(member) offsetof(struct options, member)

/* Commands that take it: those that choose processes, that collect, that stay. */
#define CHOOSE	"snapshot compare maps record watch top"
#define COLLECT "snapshot compare system record watch top serve"
#define STAY	"watch top serve"

const struct option_entry option_table[] = {
	{{"sort", 's', "COL[,COL...]",
	  "sort by these columns: sizes and counts biggest first, all else ascending (default: pss)",
	  "snapshot maps record watch top"},
	 STRING,
	 AT(sort)},
	{{"reverse", 'r', NULL, "smallest first", "snapshot maps record watch top"},
	 FLAG,
	 AT(reverse)},
	{{"columns", 'o', "LIST", "show these columns; +COL appends; help lists them all",
	  "snapshot record watch top serve"},
	 STRING,
	 AT(columns)},
	{{"top", 'n', "N", "only the first N rows, and read only what they need",
	  "snapshot maps watch top serve"},
	 COUNT,
	 AT(top)},
	{{"all", 'a', NULL, "every row, also on a terminal", CHOOSE}, FLAG, AT(all)},
	{{"group-by", 'g', "KEY", "a row for each name, cmdline, user, unit, container or cgroup",
	  "snapshot watch top serve"},
	 CHOICE,
	 AT(group),
	 group_words},
	{{"tree", 0, NULL, "processes under their parents, each with all below it", "snapshot top"},
	 FLAG,
	 AT(tree)},
	{{"pid", 'p', "LIST", "only these processes", CHOOSE}, LIST, AT(pids)},
	{{"user", 'u', "LIST", "only processes of these users (names or numbers)", CHOOSE},
	 LIST,
	 AT(users)},
	{{"filter", 'f', "ERE", "only processes whose name or command line matches", CHOOSE},
	 STRING,
	 AT(filter)},
	{{"cgroup", 0, "GLOB", "only processes in this cgroup, or in one within it", CHOOSE},
	 STRING,
	 AT(cgroup)},
	{{"min", 0, "SIZE", "only rows with so much of what they are sorted by (K, M, G)",
	  "snapshot watch top"},
	 SIZE,
	 AT(min)},
	{{"format", 'F', "F",
	  "table, json, ndjson (a line a process), csv, folded (flame graphs), openmetrics, prometheus, "
	  "html (a page)",
	  "snapshot compare system maps record watch"},
	 CHOICE,
	 AT(format),
	 format_words},
	{{"json", 'J', NULL, "the same as -F json", "snapshot compare system maps record watch"},
	 SET,
	 AT(format),
	 NULL,
	 FORMAT_JSON},
	{{"bytes", 'b', NULL, "exact bytes in tables, in place of KiB, MiB, GiB",
	  "snapshot compare system maps watch top"},
	 FLAG,
	 AT(bytes)},
	{{"no-header", 'H', NULL, "no header line", "snapshot compare system maps watch"},
	 FLAG,
	 AT(no_header)},
	{{"wide", 'w', NULL, "do not cut lines to the terminal's width",
	  "snapshot compare system maps watch"},
	 FLAG,
	 AT(wide)},
	{{"numeric", 0, NULL, "user numbers in place of names", "snapshot watch top serve"},
	 FLAG,
	 AT(numeric)},
	{{"color", 0, "WHEN", "auto, always or never", NULL}, CHOICE, AT(color), color_words},
	{{"pss", 0, "HOW", "auto, kernel, rollup (/proc/PID/smaps_rollup) or none", COLLECT},
	 CHOICE,
	 AT(pss),
	 pss_words},
	{{"source", 0, "FROM", "counters from auto, bpf or proc",
	  "snapshot compare system maps record watch top serve"},
	 CHOICE,
	 AT(source),
	 source_words},
	{{"pinned", 0, NULL, "only from the pin (zmem-bpf pin), which takes no capability",
	  COLLECT},
	 FLAG,
	 AT(pinned)},
	{{"verify", 0, "N",
	  "check PSS of N processes against smaps_rollup (default: 3), of all, or of 0", COLLECT},
	 NUMBER_OR_ALL,
	 AT(verify)},
	{{"count", 'c', "N", "so many snapshots (record: 1; watch, top: without end)",
	  "record watch top"},
	 COUNT,
	 AT(count)},
	{{"interval", 'i', "SEC",
	  "one every SEC seconds, serve: at most one; 0.1 and up (default: 1)",
	  "record watch top serve"},
	 SECONDS,
	 AT(interval_ms)},
	{{"delta", 0, "SINCE", "changes since the last one, per second, or since the start",
	  "watch top"},
	 CHOICE,
	 AT(delta),
	 delta_words},
	{{"changed", 0, NULL, "watch, top: only rows that changed since the last one", "watch top"},
	 FLAG,
	 AT(changed)},
	{{"grow", 0, NULL, "watch: only rows whose PSS and swap grew since the start, most first",
	  "watch"},
	 FLAG,
	 AT(grow)},
	{{"no-lock", 0, NULL, "a command that stays does not lock its memory", STAY},
	 FLAG,
	 AT(no_lock)},
	{{"nice", 0, "N", "a command that stays gives way to others, from 0 to 19 (default: 5)",
	  STAY},
	 NICE,
	 AT(nice)},
	{{"by-file", 0, NULL, "maps: summed by file, of all processes unless some are named",
	  "maps"},
	 FLAG,
	 AT(by_file)},
	{{"total", 0, NULL, "only the total; with -H its figures alone", "snapshot maps watch"},
	 FLAG,
	 AT(total)},
	{{"output", 0, "FILE", "write to FILE, which appears whole or not at all (watch appends)",
	  "snapshot compare system maps record watch"},
	 STRING,
	 AT(output)},
	{{"replay", 0, "FILE", "read what zmem-bpf record wrote, not this machine",
	  "snapshot compare system maps watch top serve"},
	 STRING,
	 AT(replay)},
	{{"listen", 0, "LIST",
	  "serve: HOST:PORT, [IPV6]:PORT, :PORT (all), unix:/PATH (default: 127.0.0.1:19647)",
	  "serve"},
	 LIST,
	 AT(listen)},
	{{"token-file", 0, "FILE", "serve: who asks must know the token in it (Bearer)", "serve"},
	 STRING,
	 AT(token_file)},
	{{"timing", 0, NULL, "say on stderr where the time went", "snapshot"}, FLAG, AT(timing)},
	{{"verbose", 'v', NULL, "say on stderr what was used and why", NULL}, FLAG, AT(verbose)},
	{{"quiet", 'q', NULL, "no notes on stderr, only errors", NULL}, FLAG, AT(quiet)},
	{{"help", 'h', NULL, "this text", NULL}, FLAG, AT(help)},
	{{"version", 'V', NULL, "the version", NULL}, FLAG, AT(version)},
};
const size_t option_count = ARRAY_SIZE(option_table);

_Static_assert(ARRAY_SIZE(option_table) <= OPTIONS_MAX, "getopt has room for so many");

bool options_info(size_t i, struct option_info *ret)
{
	if (i >= option_count)
		return false;
	*ret = option_table[i].info;
	return true;
}

bool options_given(const struct options *o, size_t i)
{
	const struct option_entry *e = &option_table[i];
	const void *at = (const char *)o + e->offset;

	switch (e->kind) {
	case FLAG:
		return *(const bool *)at;
	case STRING:
	case LIST:
		return *(const char *const *)at;
	case SIZE:
		return *(const uint64_t *)at;
	case SET:
		return *(const int *)at == e->value;
	case NICE:
		return *(const int *)at != NICE_DEFAULT;
	case NUMBER_OR_ALL:
		return *(const int *)at != VERIFY_DEFAULT;
	default:
		return *(const int *)at;
	}
}

bool options_taken(const struct option_info *info, const char *command)
{
	return !info->commands || parse_has_item(info->commands, command);
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
