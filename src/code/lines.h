/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The line of an address in the source of its program, by the debugging information of the file. It
 * is a line of the function that the symbols name. Where another function was compiled into that
 * one, it is the line that calls it, and that function has a line of its own.
 */
#ifndef ZMEM_CODE_LINES_H
#define ZMEM_CODE_LINES_H

#include "base/arena.h"
#include "code/code_space.h"
#include "code/libdw.h"

#define SOURCE_NAME_MAX	 4095 /* bytes; longer paths are cut */
#define INLINED_NAME_MAX 1023 /* likewise names of functions */
#define INLINED_MAX	 32   /* functions in each other; of more the outer ones */

/*
 * Finds the lines of addresses, which are in ascending order, each once, and have no name. `name`
 * becomes the path of the source, in the arena, and `start` the line. Behind the path follow the
 * functions that were compiled in, for lines_take_inlined(). libdw can open no other file
 * meanwhile. Returns 0 or -ENOMEM.
 */
int lines_find(const struct libdw *dw, int fd, struct code_name *wanted, size_t count,
	       struct arena *names);

/* A function that was compiled into another one. */
struct inlined {
	const char *name;
	const char *source; /* "": no line is known */
	uint64_t line;
};

/*
 * Takes the next function, from the outermost on, out of a text that lines_find() made. *text is
 * behind the path at first, and advances; the text changes. False at its end.
 */
bool lines_take_inlined(char **text, struct inlined *ret);
/* Ends the path, and returns what follows. */
char *lines_end_path(char *text);

#endif
