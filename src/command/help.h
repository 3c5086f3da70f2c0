/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Help on commands and columns. Each function returns an exit code. */
#ifndef ZMEM_COMMAND_HELP_H
#define ZMEM_COMMAND_HELP_H

#include "session/options.h"

/* The help of a command; NULL: that of the program, all commands and the options of the first. */
int help_print(const struct command_table *table, const struct command *named);
/* -o help, and -s help where there is no -o: the columns of the command. */
int help_print_columns(const struct options *o);
/* There is no such command. */
int help_refuse(const struct options *o, const char *name);

#endif
