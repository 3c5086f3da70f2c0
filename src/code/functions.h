/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The function of an address, by all that an ELF file says: its symbols (symbols.h), the table of
 * functions that Go programs have in .gopclntab, also without symbols, and the table for unwinding
 * (.eh_frame_hdr), which tells where a function without a name begins.
 */
#ifndef ZMEM_CODE_FUNCTIONS_H
#define ZMEM_CODE_FUNCTIONS_H

#include "code/symbols.h"

/*
 * Names addresses, which are in ascending order and have no name, by an open file and its debug
 * file (-1: there is none). `start` is that of the function: also of one without a name, and 0 if
 * no function is known. The names are in the arena. Returns 0 or a negative errno, and then nothing
 * has a name: -ENOMEM; -EFBIG if the budget was not enough.
 */
int functions_name(int fd, int debug_fd, struct code_name *wanted, size_t count,
		   struct symbol_budget *budget, struct arena *names);

#endif
