/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the program says of itself on stdout. Both return an exit code. */
#ifndef ZMEM_APP_HELP_H
#define ZMEM_APP_HELP_H

#include <stdbool.h>

/* --help */
int help_text(void);
/* -o help; `changes`: also those columns that only a command that stays has. */
int help_columns(bool changes);

#endif
