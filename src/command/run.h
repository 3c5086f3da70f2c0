/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The whole program. */
#ifndef ZMEM_COMMAND_RUN_H
#define ZMEM_COMMAND_RUN_H

/* Runs what argv asks for. Returns the exit code of the program. */
int commands_run(int argc, char **argv);

#endif
