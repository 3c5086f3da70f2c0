/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The registers and the copy of a stack that bpf/grow.bpf.c sends. */
#ifndef ZMEM_CODE_STACK_MESSAGE_H
#define ZMEM_CODE_STACK_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "zmem/grow.h"

/* Words of the registers in a message: struct pt_regs of the architecture. */
#if defined(__x86_64__)
#define STACK_WORD_IP 16
#define STACK_WORD_BP 4
#define STACK_WORD_SP 19
#elif defined(__aarch64__)
#define STACK_WORD_IP 32
#define STACK_WORD_BP 29
#define STACK_WORD_SP 31
#else
#error "the registers of this architecture are not known"
#endif

/* Whether the byte at this place of the copy is of the stack, and not of an absent page. */
static inline bool stack_has(const struct zmem_grow_stack *m, uint64_t at)
{
	return !(m->absent >> ((m->regs[STACK_WORD_SP] % 4096 + at) / 4096 & 31) & 1);
}

#endif
