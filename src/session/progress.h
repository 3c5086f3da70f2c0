/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A line on the terminal of stderr, written anew in place and erased before other output. */
#ifndef ZMEM_SESSION_PROGRESS_H
#define ZMEM_SESSION_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

struct progress {
	bool on;
	size_t columns; /* of the line that is there; 0: none */
};

/* Off if `quiet`, if stderr is no terminal, or if stdout goes to a program, such as a pager. */
void progress_open(struct progress *p, bool quiet);
/* Shows a text of ASCII in place of the last one. */
void progress_show(struct progress *p, const char *text);
/* To be called before anything else is written. */
void progress_clear(struct progress *p);

#endif
