/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of commands, and what each row runs. */
#ifndef ZMEM_COMMAND_TABLE_H
#define ZMEM_COMMAND_TABLE_H

#include "session/options.h"

extern const struct command_table command_table;

/* Each is in the file of its name and returns the exit code of the program. */
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
int command_peak(const struct options *o);
int command_doctor(const struct options *o);
int command_pin(const struct options *o);
int command_unpin(const struct options *o);
/* For grow without a target: what watch --grow shows of all processes, and a command. */
int watch_what_grows(const struct options *o);
int command_completion(const struct options *o);
int command_help(const struct options *o);
int command_version(const struct options *o);

#endif
