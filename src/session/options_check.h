/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which options fit together. Each function returns 0, or an exit code after a message. */
#ifndef ZMEM_SESSION_OPTIONS_CHECK_H
#define ZMEM_SESSION_OPTIONS_CHECK_H

#include "session/options.h"

int options_check(const struct options *o);
/* A part of it: each option that was given is one of the command. */
int options_check_taken(const struct options *o);
/* Another one: whether metrics can show what the options ask for. */
int options_check_metrics(const struct options *o);
/* Says which words the option takes that was given another one (o->unknown). */
int options_refuse_choice(const struct options *o);

/* What the command takes behind --group-by, if it has it. */
const char *options_group_words(const struct command *command);

#endif
