/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Leaves a function that has no table for unwinding, as those of musl and of much assembler: its
 * instructions are followed to a return. Only what moves the stack pointer, and what brings
 * registers back from the stack, is looked at: compilers leave a function on all ways with the same
 * stack. For x86-64. It is pure.
 */
#ifndef ZMEM_CODE_STEP_OUT_H
#define ZMEM_CODE_STEP_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* By their numbers in instructions. */
enum { STEP_SP = 4, STEP_BP = 5, STEP_REGS = 16 };

struct step_from {
	void *arg;
	/* Reads up to `len` bytes of code. Returns how many. */
	size_t (*read_code)(void *arg, uint64_t address, unsigned char *buf, size_t len);
	bool (*read_word)(void *arg, uint64_t address, uint64_t *ret);
};

/*
 * From an address in a function and its registers to the address behind the call of it, and the
 * registers there: those that a function keeps for its caller are right. False, and then nothing
 * changes, if no way leads to a return, or it leads to an address that is behind no call.
 */
bool step_out(const struct step_from *from, uint64_t *ip, uint64_t reg[STEP_REGS]);

#endif
