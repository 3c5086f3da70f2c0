/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions that only pass memory on: allocators, containers and strings of libraries, runtimes of
 * languages. What they allocate is the doing of their callers. Pure.
 */
#ifndef ZMEM_GROW_PASS_ON_H
#define ZMEM_GROW_PASS_ON_H

#include <stdbool.h>

/*
 * `name`: as a report has it, demangled where that is possible. `module`: the last component of its
 * file, or NULL; names that a program may have for something else count in some files alone.
 */
bool passes_on(const char *name, const char *module);

#endif
