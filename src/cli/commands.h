/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The commands: each takes the options and returns an exit code. */
#ifndef ZMEM_CLI_COMMANDS_H
#define ZMEM_CLI_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/options.h"

int command_snapshot(const struct options *o);
int command_compare(const struct options *o);
int command_system(const struct options *o);
int command_maps(const struct options *o);
int command_record(const struct options *o);
int command_watch(const struct options *o);
int command_top(const struct options *o);
int command_doctor(const struct options *o);
int command_serve(const struct options *o);
int command_pin(const struct options *o);
int command_unpin(const struct options *o);

/* What metrics cannot be of is said. Returns 0 or an exit code. */
int commands_check_metrics(const struct options *o);

/* Whether serve has what it takes: 0, or a negative errno and what is missing. */
int serve_check(char *why, size_t cap);

/* One command, as help and completions want it. */
struct command_info {
	const char *name;
	const char *usage;
	const char *help;
};

/* The i-th command, false past the last. */
bool commands_info(size_t i, struct command_info *ret);

/* Runs what argv asks for. Returns the exit code of the program. */
int commands_run(int argc, char **argv);

#endif
