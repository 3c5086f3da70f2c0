/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What users call a program: the executable's base name, or the script that an interpreter runs, or
 * the applet of a multi-call binary, or what the dynamic loader was told to run. A name is never
 * made of other arguments.
 */
#ifndef ZMEM_PROGRAM_H
#define ZMEM_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text_part.h"

#define PROGRAM_NAME_MAX 255

/*
 * Whether the name is to be had from the command line alone. `exe` is the executable's base name,
 * or comm where that is not known.
 */
bool program_needs_cmdline(const char *exe, const char *comm);

/*
 * The name, a part of exe, comm or cmdline. `cmdline` is what /proc/PID/cmdline has, words that end
 * with NUL, the last one whole; NULL if it was not read.
 */
struct text_part program_name(const char *exe, const char *comm, const char *cmdline, size_t len);

#endif
