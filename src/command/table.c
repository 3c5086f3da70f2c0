// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The table of commands: a new one has its row here and its file beside. */
#include "command/table.h"

#include "base/array.h"
#include "fields/file_fields.h"
#include "fields/growth_fields.h"
#include "fields/map_fields.h"
#include "fields/peak_fields.h"
#include "serve/serve.h"
#include "top/top.h"
#include "top/view.h"

#ifdef ZMEM_STATIC
#define SERVE_HELP "not in this static program"
#else
#define SERVE_HELP "HTTP: metrics for Prometheus, JSON, a live page"
#endif

/* Options that several commands take. */
#define CHOOSE		"user filter cgroup unit "
#define PRINT		"format output bytes no-header wide "
#define MEASURE		"pss source verify pinned readers "
#define STAY		"nice no-lock "

#define COMPARE_OPTIONS "pid all json " CHOOSE PRINT MEASURE
/* What both words for it have in common. */
#define COMPARE                                                                                    \
	.page = "zmem-bpf-compare", .formats = "table, json",                                      \
	.example = {"zmem-bpf doctor --compare", "zmem-bpf doctor --compare -p 1234 -a",           \
		    "zmem-bpf doctor --compare --json --output compare.json"},                     \
	.traits = COMMAND_PIDS | COMMAND_COMPARES | COMMAND_NO_ROWS,                               \
	.no_replay = "a recording holds one side alone (doctor --compare --json keeps both)",      \
	.run = command_compare

static const struct command doctor_compare = {
	.name = "doctor --compare",
	.usage = "doctor --compare [OPTION]...",
	.summary = "the same processes by BPF and by /proc",
	.options = "compare " COMPARE_OPTIONS,
	COMPARE,
};

static const struct command rows[] = {
	{.name = "snapshot",
	 .page = "zmem-bpf",
	 .usage = "[snapshot] [PID]... [OPTION]...",
	 .summary = "RAM and swap of every process",
	 .formats = "table, json, ndjson, csv, tsv, folded, openmetrics, prometheus, html",
	 .example = {"zmem-bpf -s swap_pss -n 10", "zmem-bpf -g container",
		     "zmem-bpf -f 'postgres|mysqld' --json"},
	 .options =
		 "pid min columns long group-by apps tree top all total sort reverse json numeric "
		 "replay at timing " CHOOSE PRINT MEASURE,
	 .traits = COMMAND_PIDS | COMMAND_ALL | COMMAND_NODES,
	 .run = command_snapshot},
	{.name = "system",
	 .page = "zmem-bpf-system",
	 .usage = "system [OPTION]...",
	 .summary = "where the RAM of the machine is, and its swap",
	 .formats = "table, json",
	 .example = {"zmem-bpf system", "zmem-bpf system -l", "zmem-bpf system --by cgroup"},
	 .options = "long by json exact replay at " PRINT MEASURE,
	 .traits = COMMAND_COSTS | COMMAND_LISTS,
	 .run = command_system},
	{.name = "cgroups",
	 .page = "zmem-bpf-cgroups",
	 .usage = "cgroups [OPTION]...",
	 .summary = "memory cgroups: what hurts them, and how near their limits are",
	 .formats = "table, json, ndjson, csv, tsv",
	 .example = {"zmem-bpf cgroups", "zmem-bpf cgroups --cgroup /kubepods -s mem_shmem",
		     "zmem-bpf cgroups -s cgroup"},
	 .options = "cgroup columns top all sort reverse json replay at " PRINT MEASURE,
	 .traits = COMMAND_ALL | COMMAND_MEMCGS,
	 .run = command_snapshot},
	{.name = "maps",
	 .page = "zmem-bpf-maps",
	 .usage = "maps [PID]... [OPTION]...",
	 .summary = "processes by mapping; files that are mapped; heaps and stacks by program",
	 .formats = "table, json",
	 .example = {"zmem-bpf maps 1234", "zmem-bpf maps --by-file -n 10",
		     "zmem-bpf maps -g name --mapping '^.heap'"},
	 .options =
		 "pid mapping group-by apps by-file by-node top all total sort reverse json source " CHOOSE
			 PRINT,
	 .traits = COMMAND_PIDS | COMMAND_FILTERS,
	 .fields = &map_fields,
	 .no_replay = "a recording holds no mappings",
	 .run = command_maps},
	{.name = "files",
	 .page = "zmem-bpf-files",
	 .usage = "files [OPTION]...",
	 .summary = "files with pages in RAM or swap: shared memory, tmpfs, page cache",
	 .formats = "table, json, ndjson, csv, tsv, html",
	 .example = {"zmem-bpf files -n 10 -o +holders", "zmem-bpf files -g kind",
		     "zmem-bpf files -f '^/tmp/' -s swapped"},
	 .options = "filter min columns group-by top all total sort reverse json " PRINT,
	 .fields = &file_fields,
	 .traits = COMMAND_FILES,
	 .run = command_files},
	{.name = "watch",
	 .page = "zmem-bpf-watch",
	 .usage = "watch [OPTION]...",
	 .summary = "a snapshot every second, with what has changed",
	 .formats = "table, ndjson, csv, tsv",
	 .example = {"zmem-bpf watch -n 10", "zmem-bpf watch --grow -i 10 -c 7",
		     "zmem-bpf watch -F ndjson --changed --output memory.log"},
	 .options =
		 "pid min changed grow columns long group-by apps top all total delta sort reverse numeric "
		 "interval count replay since until " CHOOSE PRINT MEASURE STAY,
	 .traits = COMMAND_PIDS | COMMAND_SERIES | COMMAND_ALL,
	 .no_tree = "it shows changes, and the rows of a tree have none (see top --tree)",
	 .run = command_watch},
	{.name = "grow",
	 .page = "zmem-bpf-grow",
	 .usage = "grow [PID]... [-- COMMAND]",
	 .summary = "what grows; of a process: which code made it grow, by stack",
	 .formats = "table, json, folded, html, pprof",
	 .example = {"zmem-bpf grow", "zmem-bpf grow 1234 -c 60",
		     "zmem-bpf grow --name postgres --follow -F folded"},
	 .options =
		 "pid name cgroup columns paths top all sort reverse json interval count follow debuginfod "
		 "stack malloc sample " PRINT,
	 .fields = &growth_columns,
	 .traits = COMMAND_PIDS | COMMAND_RUNS | COMMAND_OPENS | COMMAND_FILTERS,
	 .run = command_grow},
	{.name = "peak",
	 .page = "zmem-bpf-peak",
	 .usage = "peak [PID]... [-- COMMAND]",
	 .summary = "the highest memory that a command and all its children had",
	 .formats = "table, json, html",
	 .example = {"zmem-bpf peak -- make -j8", "zmem-bpf peak --json --output peak.json -- make",
		     "zmem-bpf peak --cgroup '/system.slice/*'"},
	 .options = "pid name cgroup top all json source " PRINT,
	 .fields = &peak_columns,
	 .traits = COMMAND_PIDS | COMMAND_RUNS | COMMAND_FILTERS,
	 .run = command_peak},
	{.name = "record",
	 .page = "zmem-bpf-record",
	 .usage = "record FILE|DIR [OPTION]...",
	 .summary = "snapshots for --replay",
	 .formats = "table, json",
	 .example = {"zmem-bpf record now.zmem", "zmem-bpf record hour.zmem -i 60 -c 60",
		     "zmem-bpf record --keep 7d /var/lib/zmem-bpf"},
	 .options =
		 "pid columns apps all sort reverse format json output interval count keep dense stall "
		 "no-signals no-ended " CHOOSE MEASURE STAY,
	 .traits = COMMAND_PIDS | COMMAND_WORD | COMMAND_STORES | COMMAND_COSTS | COMMAND_NO_ROWS |
		   COMMAND_ALL,
	 .run = command_record},
	{.name = "diff",
	 .page = "zmem-bpf-diff",
	 .usage = "diff [FILE]... [OPTION]...",
	 .summary = "what changed between two moments",
	 .formats = "table, json, ndjson, csv, tsv",
	 .example = {"zmem-bpf diff --from -1h -g name", "zmem-bpf diff --from 03:00 --to 03:14",
		     "zmem-bpf diff before.zmem after.zmem"},
	 .options = "group-by apps top all sort json from to " CHOOSE PRINT,
	 .traits = COMMAND_WORDS,
	 .run = command_diff},
	{.name = "incidents",
	 .page = "zmem-bpf-incidents",
	 .usage = "incidents [DIR] [OPTION]...",
	 .summary = "OOM kills in a recording: what held most, what had grown",
	 .formats = "table, json, html",
	 .example = {"zmem-bpf incidents", "zmem-bpf incidents --since -1d --json",
		     "zmem-bpf incidents -F html --output night.html"},
	 .options = "group-by top json at since until " PRINT,
	 .traits = COMMAND_WORD | COMMAND_MOMENTS | COMMAND_ALL,
	 .run = command_incidents},
	{.name = "top",
	 .page = "zmem-bpf-top",
	 .usage = "top [OPTION]...",
	 .summary = "live, with keys (? shows them)",
	 .example = {"zmem-bpf top", "zmem-bpf top -g name -s swap_pss",
		     "zmem-bpf top --replay hour.zmem"},
	 .options =
		 "pid min changed columns long group-by apps tree top all delta sort reverse bytes numeric "
		 "interval count replay at " CHOOSE MEASURE STAY,
	 .traits = COMMAND_PIDS | COMMAND_SERIES | COMMAND_KEYS | COMMAND_LOADS,
	 .key_help = view_key_help,
	 .run = command_top},
	{.name = "serve",
	 .page = "zmem-bpf-serve",
	 .usage = "serve [OPTION]...",
	 .summary = SERVE_HELP,
	 .example = {"zmem-bpf serve", "zmem-bpf serve --listen unix:/run/zmem-bpf.sock",
		     "zmem-bpf serve --listen :19647 --token-file FILE"},
	 .options =
		 "columns group-by apps top numeric listen token-file files interval replay " MEASURE
			 STAY,
	 .traits = COMMAND_STORES | COMMAND_COSTS | COMMAND_WATCHES,
	 .run = command_serve},
	{.name = "pin",
	 .page = "zmem-bpf-pin",
	 .usage = "pin [GROUP | --remove]",
	 .summary = "load the programs once, for root or also for a group (root)",
	 .example = {"zmem-bpf pin", "zmem-bpf pin zmem", "zmem-bpf pin --remove"},
	 .options = "remove ",
	 .traits = COMMAND_WORD | COMMAND_ADMINISTERS,
	 .run = command_pin},
	{.name = "unpin",
	 .page = "zmem-bpf-pin",
	 .usage = "unpin",
	 .summary = "the same as pin --remove (root)",
	 .options = "remove ",
	 .traits = COMMAND_ADMINISTERS,
	 .run = command_unpin},
	{.name = "doctor",
	 .page = "zmem-bpf-doctor",
	 .usage = "doctor [-v | --compare]",
	 .summary = "what works on this machine, and what to do about the rest",
	 .example = {"zmem-bpf doctor", "zmem-bpf doctor -v", "zmem-bpf doctor --compare"},
	 .options = "compare ",
	 .traits = COMMAND_PIDS | COMMAND_WATCHES,
	 .comparing = &doctor_compare,
	 .run = command_doctor},
	{.name = "compare",
	 .usage = "compare [OPTION]...",
	 .summary = "the same as doctor --compare",
	 .options = COMPARE_OPTIONS,
	 COMPARE},
	{.name = "help",
	 .page = "zmem-bpf",
	 .usage = "help [COMMAND]",
	 .summary = "this text, or the options of a command",
	 .traits = COMMAND_WORD,
	 .run = command_help},
	{.name = "version",
	 .page = "zmem-bpf",
	 .usage = "version",
	 .summary = "the version of this program",
	 .run = command_version},
	{.name = "completion",
	 .page = "zmem-bpf",
	 .usage = "completion bash|zsh",
	 .summary = "tables for the completions of a shell",
	 .traits = COMMAND_WORD | COMMAND_HIDDEN,
	 .run = command_completion},
};

const struct command_table command_table = {rows, ARRAY_SIZE(rows)};
