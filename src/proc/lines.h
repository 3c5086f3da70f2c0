/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files of /proc that may be long: read in parts, line by line. Private to src/proc. */
#ifndef ZMEM_PROC_LINES_H
#define ZMEM_PROC_LINES_H

#include "base/parse.h"

/*
 * Calls fn for each complete line of the file below the open directory. A line that is longer than
 * the buffer ends the reading. Returns 0 or a negative errno.
 */
int lines_read(int dir, const char *path, void (*fn)(void *arg, struct text_part line), void *arg);

/* Takes the next word of a line; it is empty at the end. */
struct text_part line_word(struct text_part *line);

#endif
