/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Decodes instructions of x86-64 as far as their length, their operands and the stack need it. It
 * is pure.
 */
#ifndef ZMEM_CODE_X86_H
#define ZMEM_CODE_X86_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define X86_LENGTH_MAX 15 /* of an instruction */

/* Registers by their numbers in instructions. */
enum { X86_AX, X86_CX, X86_DX, X86_BX, X86_SP, X86_BP, X86_SI, X86_DI, X86_REGS = 16 };

struct x86_instruction {
	size_t len;
	bool prefixed; /* by others than REX */
	uint8_t rex;   /* 0: it has none */
	unsigned map;  /* 0, 1 (0F), 2 (0F 38), 3 (0F 3A); 4: VEX or EVEX */
	uint8_t opcode;
	bool wide;	       /* operands of 64 bits */
	unsigned mod, reg, rm; /* of ModRM; registers with the bits of REX */
	bool indexed;	       /* the address has an index, or none of these registers as base */
	int64_t displacement, immediate;
};

/* False: the instruction does not end within these bytes. */
bool x86_decode(const unsigned char *code, size_t len, struct x86_instruction *ret);
/* Whether it may jump, or does, to where its immediate says, from its end on. */
bool x86_is_conditional(const struct x86_instruction *n);
bool x86_is_jump(const struct x86_instruction *n);

#endif
