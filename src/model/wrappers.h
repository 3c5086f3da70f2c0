/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the functions of a program that only pass memory on, by the stacks of a report: such as its
 * own xalloc(). Pure.
 */
#ifndef ZMEM_MODEL_WRAPPERS_H
#define ZMEM_MODEL_WRAPPERS_H

#include "model/growth.h"

/*
 * A function is such a wrapper if 9 of 10 of its bytes are directly above an allocator, if it has
 * at least 8 callers, each with 1 of 100 of its bytes or more, and if no caller has more than half.
 * A function that keeps what it allocates is rarely called from so many places. Then wrappers of
 * wrappers are looked for, three times in all: further out are the parts of the program itself.
 *
 * Code in no file is left out: scripts do not call an allocator. So are interpreters, and functions
 * without a name or with the one of the nearest symbol. Marks the frames as `allocator` and
 * `wrapper`. Returns 0 or -ENOMEM.
 */
int growth_find_wrappers(struct growth *g);

#endif
