/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the program says of itself on stdout. Both return an exit code. */
#ifndef ZMEM_CLI_HELP_H
#define ZMEM_CLI_HELP_H

#include <stdbool.h>

/* --help; of that command alone, if there is one of that name. */
int help_text(const char *command);
/* -o help; `changes`: also those columns that only a command that stays has. */
int help_columns(bool changes);

#endif
