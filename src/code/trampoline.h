/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The trampolines of CPython (-X perf): a copy of a few instructions for each function of Python,
 * which calls the interpreter. They have no tables for unwinding. Those of x86-64 up to Python 3.14
 * have no frame pointer either, so stacks of a Python without frame pointers would end there.
 */
#ifndef ZMEM_CODE_TRAMPOLINE_H
#define ZMEM_CODE_TRAMPOLINE_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>

#define TRAMPOLINE_MAX 16 /* bytes that tell it */

/* Whether memory that begins with this code has such trampolines. */
bool trampoline_is(const unsigned char *code, size_t len);
/* Tables for memory that has nothing else, from address 0 on. The caller ends it; NULL: none. */
Elf *trampoline_elf(void);

#endif
