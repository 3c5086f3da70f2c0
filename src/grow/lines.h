/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The line of an address in the source of its program, by the debugging information of the file. It
 * is a line of the function that the symbols name: where another function was compiled into that
 * one, the line that calls it.
 */
#ifndef ZMEM_GROW_LINES_H
#define ZMEM_GROW_LINES_H

#include "base/arena.h"
#include "grow/code_space.h"
#include "grow/libdw.h"

#define SOURCE_NAME_MAX 4095 /* bytes; longer paths are cut */

/*
 * Finds the lines of addresses, which are in ascending order, each once, and have no name. `name`
 * becomes the path of the source, in the arena, and `start` the line. libdw can open no other file
 * meanwhile. Returns 0 or -ENOMEM.
 */
int lines_find(const struct libdw *dw, int fd, struct code_name *wanted, size_t count,
	       struct arena *names);

#endif
