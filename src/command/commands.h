/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The commands. Each reads the options and returns an exit code. */
#ifndef ZMEM_COMMAND_COMMANDS_H
#define ZMEM_COMMAND_COMMANDS_H

#include <stddef.h>

#include "session/options.h"

int command_snapshot(const struct options *o);
int command_compare(const struct options *o);
int command_system(const struct options *o);
int command_maps(const struct options *o);
int command_files(const struct options *o);
int command_record(const struct options *o);
int command_watch(const struct options *o);
int command_diff(const struct options *o);
int command_incidents(const struct options *o);
int command_grow(const struct options *o);
int command_top(const struct options *o);
int command_doctor(const struct options *o);
int command_serve(const struct options *o);
int command_pin(const struct options *o);
int command_unpin(const struct options *o);
int command_completion(const struct options *o);

/* What the command takes behind --group-by, if it has it. */
const char *commands_group_words(const char *command);

/* Whether metrics can show what the options ask for. Returns 0, or an exit code after a message. */
int commands_check_metrics(const struct options *o);

/* Whether serve can run. Returns 0, or a negative errno and what is missing. */
int serve_check(char *why, size_t cap);

#define COMMAND_EXAMPLES 3

/* What help and completions show of a command. */
struct command_info {
	const char *name;
	const char *page; /* the manual page */
	const char *usage;
	const char *help;
	const char *formats; /* the words of --format that it takes; NULL: it has no --format */
	const char *example[COMMAND_EXAMPLES];
};

struct command_entry {
	struct command_info info;
	int (*run)(const struct options *o);
};

extern const struct command_entry command_table[];
extern const size_t command_count;

/* Runs what argv asks for. Returns the exit code of the program. */
int commands_run(int argc, char **argv);

#endif
