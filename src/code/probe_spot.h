/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds where in a function a probe costs least. The kernel does some instructions itself. It
 * executes any other one out of line, with a second trap, which costs ten times as much. Pure.
 */
#ifndef ZMEM_CODE_PROBE_SPOT_H
#define ZMEM_CODE_PROBE_SPOT_H

#include <stddef.h>
#include <stdint.h>

#define SPOT_ARGUMENTS 3
/* In place of a word: no register has the argument any more. */
#define SPOT_LOST 15

enum {
	SPOT_EMULATED = 1, /* the kernel does the instruction itself */
	SPOT_MOVED = 2,	   /* the stack pointer is another one: no return can be probed there */
};

struct probe_spot {
	uint32_t at; /* bytes behind the beginning of the function */
	/* The words of the kernel's struct pt_regs that have the function's first arguments. */
	uint8_t word[SPOT_ARGUMENTS];
	uint8_t flags;
};

/* The beginning, where each argument is in its own register. */
struct probe_spot probe_spot_first(void);
/*
 * In code of x86-64, the first instruction that the kernel does itself, if each call comes there
 * once: else the beginning. `code`: all of the function.
 */
struct probe_spot probe_spot_x86(const uint8_t *code, size_t len);

#endif
