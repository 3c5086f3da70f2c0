/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The command line as a struct, and the table of options. Commands decide what options mean. */
#ifndef ZMEM_SESSION_OPTIONS_H
#define ZMEM_SESSION_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/collect_spec.h"
#include "fields/process_fields.h"
#include "session/command.h"

enum format {
	FORMAT_TABLE,
	FORMAT_JSON,
	FORMAT_NDJSON,
	FORMAT_CSV,
	FORMAT_TSV,
	FORMAT_FOLDED,
	FORMAT_OPENMETRICS,
	FORMAT_PROMETHEUS,
	FORMAT_HTML,
	FORMAT_PPROF,
};

enum color {
	COLOR_AUTO,
	COLOR_ALWAYS,
	COLOR_NEVER,
};

/* How grow takes stacks. */
enum stack_choice {
	STACK_AUTO,
	STACK_DWARF,
	STACK_FP,
};

/* What system splits RAM by. */
enum by_choice {
	BY_CLASS,
	BY_CGROUP,
	BY_NODE,
};

enum delta_since {
	DELTA_AUTO, /* start with --grow, else last; none in top */
	DELTA_LAST,
	DELTA_START,
};

#define NICE_DEFAULT   (-1)
#define DENSE_DEFAULT  (-1)
#define DENSE_USUAL    5 /* % */
#define STALL_DEFAULT  (-1)
#define STALL_USUAL    10 /* % */
#define NICE_USUAL     5  /* of watch, top and serve */

#define INTERVAL_USUAL 1000 /* ms, from one snapshot to the next */

#define MIN_DEFAULT    UINT64_MAX /* not given */
#define VERIFY_DEFAULT (-2)	  /* not given: each command has its own default */

#define OPTIONS_MAX    72

struct launch;
struct replay;
struct option_entry;

struct options {
	const struct command_table *commands;
	const struct command *command; /* the first one of the table if none was named */
	bool named;		       /* a command was named */
	const char *unknown_command;   /* a word that names none; NULL: there is none */
	const char *sort;
	char *columns;
	char *pids; /* owned; lists that are given again are joined */
	char *users;
	const char *filter;
	const char *cgroup;
	const char *mapping;
	char *units;
	const char *output;
	const char *replay;
	const struct replay *opened; /* the same, open already: what was said of it is not said
				      * again */
	const char *at;		     /* a moment of the recording (session/moment.h) */
	const char *at_option;	     /* the option that gave it; NULL: "at" */
	const int64_t *at_after_ms;  /* the beginning of a range that ends at it; NULL: of none */
	const char *from;	     /* of diff, likewise */
	const char *to;
	const char *since;
	const char *until;
	const char *keep; /* of record: TIME[,SIZE] */
	const char *file; /* the file that record writes */
	char *listen;	  /* owned; joined likewise */
	const char *token_file;
	const char *apps;   /* a file of rules */
	const char *word;   /* after the command: FILE or DIR of record, GROUP of pin; NULL: none */
	const char *second; /* of diff: another FILE or DIR */
	int count;	    /* 0: not given */
	int interval_ms;    /* 0: not given */
	int top;	    /* 0: not given */
	int readers;	    /* 0: not given */
	uint64_t min;	    /* bytes */
	int group;	    /* 0: none; options_group() */
	struct group_keys group_keys; /* of several; count 0: there is one, or none */
	int format;
	int color;
	int pss;
	int source; /* enum source_choice */
	int verify; /* how many processes; VERIFY_ALL, VERIFY_DEFAULT */
	bool all, reverse, bytes, long_table, no_header, wide, numeric, total, by_file, by_node,
		tree;
	bool continuous;     /* watch, top, record --keep: snapshot after snapshot */
	int delta;	     /* enum delta_since */
	const char *name;    /* of grow: the name of its processes */
	char **command_line; /* of grow: a command and its arguments; NULL: none */
	struct launch *run;  /* its process */
	int stack;	     /* of grow: enum stack_choice */
	const char *sample;  /* of grow: N, with malloc SIZE; NULL: not given */
	int malloc;	     /* of grow: 1; 2: whatever it costs */
	bool paths;	     /* of grow */
	bool follow;	     /* of grow */
	bool debuginfod;     /* of grow */
	int nice;	     /* NICE_DEFAULT: not given */
	int dense;	     /* %, of record; DENSE_DEFAULT: not given */
	int stall;	     /* %, of record; STALL_DEFAULT: not given */
	bool changed, grow, no_lock, no_signals, no_ended;
	bool files; /* of serve */
	bool pinned;
	bool remove;  /* of pin */
	bool compare; /* of doctor */
	bool exact;   /* of system */
	int by;	      /* of system: enum by_choice */
	bool timing, verbose, quiet, help, version;
	char self[128]; /* the arguments as they were typed, joined by blanks; may be cut */
	/* A CHOICE that was given a word it does not have: the command decides what it says. */
	const struct option_entry *unknown;
	const char *unknown_word;
	/* A bit for each option of the table that was given. */
	uint64_t given[(OPTIONS_MAX + 63) / 64];
	uint64_t held; /* the capabilities we were started with (privilege_mask) */
};

/* Reads argv. Returns 0, or an exit code after a message. options_done() in either case. */
int options_parse(struct options *o, const struct command_table *commands, int argc, char **argv);
void options_done(struct options *o);

/* What --group-by says, NULL: nothing. */
const char *options_group_key(const struct options *o);
/* The column of processes that it names, or the columns together. NULL: none. */
const struct field *options_group(const struct options *o);

/* What the columns of --columns need (NEEDS_...); of a command that stores, what it is to add. */
unsigned options_columns_need(const struct options *o);

/* Whether the format is one of metrics. */
bool options_metrics(const struct options *o);

/* The word of --format. */
const char *options_format_word(int format);

/* The sections of the help. */
enum option_section {
	OPTIONS_CHOOSE_ROWS,
	OPTIONS_SHOW,
	OPTIONS_SORT,
	OPTIONS_OUTPUT,
	OPTIONS_MEASURE,
	OPTIONS_ADVANCED,
	OPTION_SECTIONS,
};

enum option_kind {
	FLAG,	       /* bool */
	STRING,	       /* const char *; two different ones are refused */
	LIST,	       /* char *, owned; joined to what was given before */
	COUNT,	       /* int, 1 and up */
	SECONDS,       /* int, milliseconds, 0.1 s and up */
	NUMBER_OR_ALL, /* int, 0 and up, VERIFY_ALL */
	CHOICE,	       /* int, the index of a word */
	NICE,	       /* int, 0 to 19 */
	SHARE,	       /* int, 0 to 100 */
	SIZE,	       /* uint64_t, bytes */
	SET,	       /* int, `value`: a flag that stands for a choice */
	FLAG_OR_WORD,  /* int, 1, or with "=WORD" 2: its argument is "[=WORD]" */
};

struct option_entry {
	const char *name;
	char letter;	      /* 0: none */
	const char *argument; /* NULL: a flag */
	enum option_kind kind;
	size_t offset; /* of the member of struct options */
	enum option_section section;
	const char *help;
	bool common;		  /* each command takes it */
	const char *const *words; /* of a CHOICE */
	int value;		  /* of a SET */
	/* What another word of a CHOICE means. NULL: itself. */
	const char *(*alias)(const char *word);
};

extern const struct option_entry option_table[];
extern const size_t option_count;

/* Whether the option was given, also with its default as the value. */
bool options_given(const struct options *o, const struct option_entry *e);
/* Whether the argument of the option may be left out. */
bool options_may_be_flag(const struct option_entry *e);
/* Whether the command takes the option. */
bool options_taken(const struct option_entry *e, const struct command *command);

#endif
