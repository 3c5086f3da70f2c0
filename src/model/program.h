/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The name of a program as users know it: the base name of the executable, or the script that an
 * interpreter runs, or the applet of a multi-call binary, or the program that the dynamic loader
 * or Wine runs, or the link that the program was started by. A name is never made of other
 * arguments.
 *
 * A link is known by comm and argv[0], which exec sets to its name: redis-server is a link to
 * redis-check-rdb. Both must have the same name, made of letters, digits and "_.+@-". A program can
 * set both to any name; it can as well be a copy of its file with that name.
 */
#ifndef ZMEM_MODEL_PROGRAM_H
#define ZMEM_MODEL_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/parse.h"

#define PROGRAM_NAME_MAX 255

/*
 * True if the name can only be found in the command line. `exe` is the base name of the executable,
 * or comm if that is not known. It has no note of /proc that the file was removed.
 */
bool program_needs_cmdline(const char *exe, const char *comm);

#define PROGRAM_CMDLINE_MAX 4096 /* bytes of a command line that a name is looked for in */

/* The length of the first `len` of `max` bytes without the last word, if that may be cut off. */
size_t program_whole_words(const char *cmdline, size_t len, size_t max);

/*
 * Returns the name, a part of exe, comm or cmdline. `cmdline` is the contents of /proc/PID/cmdline:
 * words that end with NUL, the last one complete; NULL if it was not read.
 */
struct text_part program_name(const char *exe, const char *comm, const char *cmdline, size_t len);

#endif
