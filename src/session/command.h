/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A command is a row of a table: what it is called, what it takes and shows, and what it needs. */
#ifndef ZMEM_SESSION_COMMAND_H
#define ZMEM_SESSION_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

struct fields;
struct options;

enum command_trait {
	/* The words that a command takes: */
	COMMAND_PIDS = 1 << 0,	/* process numbers */
	COMMAND_WORD = 1 << 1,	/* one word: a file, a directory, a group, … */
	COMMAND_WORDS = 1 << 2, /* two of them */
	COMMAND_RUNS = 1 << 3,	/* the words behind "--" are a command to run */
	/* What it shows: */
	COMMAND_SERIES = 1 << 4,   /* snapshot after snapshot, with changes */
	COMMAND_KEYS = 1 << 5,	   /* keys change the order and the columns */
	COMMAND_FILES = 1 << 6,	   /* its rows are files, which have other columns and groups */
	COMMAND_COMPARES = 1 << 7, /* BPF with /proc: it needs both */
	COMMAND_STORES = 1 << 8,   /* it keeps all values for later: its columns are fixed */
	COMMAND_COSTS = 1 << 9,	   /* what swap costs, in any format */
	COMMAND_MOMENTS = 1 << 10, /* moments of a recording, also without --replay */
	COMMAND_NO_ROWS = 1 << 11, /* its table does not say that no process matches */
	COMMAND_ALL = 1 << 12,	   /* its documents have all keys of each process */
	COMMAND_MEMCGS = 1 << 18,  /* its rows are all memory cgroups */
	COMMAND_NODES = 1 << 19,   /* also the NUMA nodes of the machine */
	COMMAND_FILTERS = 1 << 20, /* of the options of a query its session has the filters alone */
	/* The rights that it keeps, as secure_start() and secure_loaded() call them: */
	COMMAND_ADMINISTERS = 1 << 13, /* all: it makes or removes the pin */
	COMMAND_WATCHES = 1 << 14,     /* it opens the kernel's log and a trigger on PSI */
	COMMAND_OPENS = 1 << 15,       /* it opens files of other users, as these users */
	COMMAND_LOADS = 1 << 16,       /* it loads more programs later */
	COMMAND_LISTS = 1 << 21,       /* it lists objects of BPF */
	/* Help and completions do not list it: the build runs it. */
	COMMAND_HIDDEN = 1 << 17,
};

#define COMMAND_EXAMPLES 3

struct command {
	const char *name;
	const char *page; /* the manual page */
	const char *usage;
	const char *summary;
	const char *formats; /* the words of --format that it takes; NULL: it has no --format */
	const char *example[COMMAND_EXAMPLES];
	const char *options; /* the names of those that it takes, beside those that all take */
	unsigned traits;     /* enum command_trait */
	const struct fields *fields;	 /* the columns of its rows; NULL: those of processes */
	const char *no_replay;		 /* why it does not take --replay */
	const char *no_tree;		 /* why it does not take --tree, where that is not plain */
	const struct command *comparing; /* what it is with --compare */
	const char *(*key_help)(
		size_t i); /* with keys: lines of their help; NULL behind the last */
	int (*run)(const struct options *o); /* returns the exit code */
};

struct command_table {
	const struct command *row;
	size_t count;
};

/* The command of that name, NULL if there is none. */
const struct command *command_find(const struct command_table *table, const char *name);
/* The one behind `before`, NULL: the first; without those that are hidden. NULL behind the last. */
const struct command *command_next(const struct command_table *table, const struct command *before);

#endif
