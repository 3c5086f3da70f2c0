// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Behind a conditional jump the way goes on; where it ends, in a loop or at an instruction that
 * ends programs, the jump is taken. A call comes back with the stack as it was. One that does not
 * leads into other code: then the address of the return is most likely none that is behind a call.
 */
#include "code/step_out.h"

#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "code/x86.h"

#define STEPS_MAX   1000 /* instructions of one function */
#define SLOTS	    2048 /* a power of 2, larger */
#define JUMPS_MAX   32	 /* conditional jumps that may still be taken */
#define STORED_MAX  32	 /* words of the stack */
#define CALL_LENGTH 7	 /* of a call that is looked for */

/* ---- a way ---- */

struct state {
	uint64_t ip, reg[STEP_REGS];
	/* What was stored on the way. */
	struct stored {
		uint64_t address, value;
		bool known;
	} stored[STORED_MAX];
	size_t count;
};

struct way {
	const struct step_from *from;
	struct state now;
	uint64_t begin; /* the stack pointer */
	struct state jump[JUMPS_MAX];
	size_t jumps, steps;
	uint64_t seen[SLOTS]; /* addresses; 0: free */
};

/* The first visit of an address. */
static bool is_new(struct way *w)
{
	size_t i = hash_number(HASH_START, w->now.ip) % SLOTS;

	for (; w->seen[i]; i = (i + 1) % SLOTS) {
		if (w->seen[i] == w->now.ip)
			return false;
	}
	w->seen[i] = w->now.ip;
	return true;
}

static struct stored *find_stored(struct state *now, uint64_t address)
{
	for (size_t i = 0; i < now->count; i++) {
		if (now->stored[i].address == address)
			return &now->stored[i];
	}
	return NULL;
}

static bool read_stack(struct way *w, uint64_t address, uint64_t *ret)
{
	const struct stored *s = find_stored(&w->now, address);

	if (s)
		*ret = s->value;
	if (s || (int64_t)(address - w->begin) < 0)
		return s && s->known;
	return w->from->read_word(w->from->arg, address, ret);
}

/* NULL: a value that is not known. */
static bool store(struct way *w, uint64_t address, const uint64_t *value)
{
	struct stored *s = find_stored(&w->now, address);

	if (!s && w->now.count == STORED_MAX)
		return false;
	if (!s)
		s = &w->now.stored[w->now.count++];
	*s = (struct stored){address, value ? *value : 0, value != NULL};
	return true;
}

static bool push(struct way *w, const uint64_t *value)
{
	uint64_t pushed = value ? *value : 0;

	w->now.reg[STEP_SP] -= 8;
	return store(w, w->now.reg[STEP_SP], value ? &pushed : NULL);
}

/* A function has to bring these back for its caller: rbx, rbp, r12 to r15. */
static bool is_callee_saved(unsigned reg)
{
	return reg == 3 || reg == STEP_BP || reg >= 12;
}

static bool pop(struct way *w, unsigned reg)
{
	uint64_t value;

	if (read_stack(w, w->now.reg[STEP_SP], &value))
		w->now.reg[reg] = value;
	else if (is_callee_saved(reg))
		return false;
	w->now.reg[STEP_SP] += 8;
	return true;
}

/* What a register has that is put into the stack pointer, or the other way round. */
static bool move(struct way *w, unsigned to, unsigned from, int64_t more)
{
	if (to != STEP_SP && to != STEP_BP)
		return true;
	if (from != STEP_SP && from != STEP_BP)
		return to != STEP_SP;
	w->now.reg[to] = w->now.reg[from] + (uint64_t)more;
	return true;
}

/* A word of the stack: by the stack pointer, or by the frame pointer. */
static bool is_on_stack(const struct x86_instruction *n)
{
	return n->mod != 3 && n->wide && !n->indexed && (n->rm == STEP_SP || n->rm == STEP_BP);
}

static uint64_t address_of(const struct way *w, const struct x86_instruction *n)
{
	return w->now.reg[n->rm] + (uint64_t)n->displacement;
}

/* Copies a register to another one, or to the stack, or back. False: the way ends here. */
static bool copy(struct way *w, const struct x86_instruction *n)
{
	bool load = n->opcode == 0x8b;

	if (n->mod == 3 && n->wide)
		return load ? move(w, n->reg, n->rm, 0) : move(w, n->rm, n->reg, 0);
	if (is_on_stack(n) && is_callee_saved(n->reg)) {
		if (load)
			read_stack(w, address_of(w, n), &w->now.reg[n->reg]);
		else
			store(w, address_of(w, n), &w->now.reg[n->reg]);
	}
	/* Another stack. */
	return !load || n->reg != STEP_SP;
}

/* An immediate is added to the stack pointer, or the like. False: the way ends here. */
static bool calculate(struct way *w, const struct x86_instruction *n)
{
	uint64_t *sp = &w->now.reg[STEP_SP];
	unsigned what = n->reg & 7;

	if (n->mod != 3 || n->rm != STEP_SP)
		return true;
	if (what == 0)
		*sp += (uint64_t)n->immediate;
	else if (what == 5)
		*sp -= (uint64_t)n->immediate;
	/* Else it is compared. */
	return (n->wide && (what == 0 || what == 5)) || what == 7;
}

/* Adds a register to the stack pointer, or the like. */
static bool is_lost(const struct x86_instruction *n)
{
	uint8_t o = n->opcode;

	if (o < 0x38 && (o & 7) < 4)
		return o & 2 ? n->reg == STEP_SP : n->mod == 3 && n->rm == STEP_SP;
	return (o == 0x87 && (n->reg == STEP_SP || (n->mod == 3 && n->rm == STEP_SP))) ||
	       ((o == 0x94 || o == 0x5c) && n->rm == STEP_SP) || (o == 0x63 && n->reg == STEP_SP);
}

/* False: the way ends here. */
static bool change_stack(struct way *w, const struct x86_instruction *n)
{
	uint8_t o = n->opcode;

	if (n->map)
		return true;
	if (is_lost(n))
		return false;
	if (o >= 0x50 && o <= 0x57)
		return push(w, &w->now.reg[n->rm]);
	if (o >= 0x58 && o <= 0x5f)
		return pop(w, n->rm);
	if (o == 0x68 || o == 0x6a)
		return push(w, &(uint64_t){(uint64_t)n->immediate});
	if (o == 0xff && (n->reg & 7) == 6)
		return push(w, NULL);
	if (o == 0xc9)
		return move(w, STEP_SP, STEP_BP, 0) && pop(w, STEP_BP);
	if (o == 0x81 || o == 0x83)
		return calculate(w, n);
	if (o == 0x8d && n->wide)
		return move(w, n->reg, n->indexed ? STEP_REGS : n->rm, n->displacement);
	return (o != 0x89 && o != 0x8b) || copy(w, n);
}

/* Jumps to what is not known, and what ends programs. */
static bool is_end(const struct x86_instruction *n)
{
	uint8_t o = n->opcode;

	if (n->map == 1)
		return o == 0x0b;
	return !n->map && (o == 0xf4 || o == 0xcc || (o >= 0xc8 && o <= 0xcf && o != 0xc9) ||
			   o == 0x8f || (o == 0xff && ((n->reg & 7) == 4 || (n->reg & 7) == 5)));
}

static bool is_behind_call(const struct step_from *from, uint64_t address)
{
	static const size_t indirect[] = {2, 3, 4, 6, 7};
	unsigned char code[CALL_LENGTH];

	if (from->read_code(from->arg, address - CALL_LENGTH, code, sizeof(code)) != sizeof(code))
		return false;
	if (code[CALL_LENGTH - 5] == 0xe8)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(indirect); i++) {
		const unsigned char *call = code + CALL_LENGTH - indirect[i];

		if (call[0] == 0xff && (call[1] >> 3 & 7) == 2)
			return true;
	}
	return false;
}

static bool follow_return(struct way *w, const struct x86_instruction *n)
{
	struct state *now = &w->now;

	if (!read_stack(w, now->reg[STEP_SP], &now->ip) || !is_behind_call(w->from, now->ip))
		return false;
	now->reg[STEP_SP] += 8 + (uint64_t)n->immediate;
	return true;
}

/* Follows one way. True: to a return. */
static bool follow(struct way *w)
{
	while (w->steps++ < STEPS_MAX && is_new(w)) {
		unsigned char code[X86_LENGTH_MAX];
		struct x86_instruction n;
		size_t len = w->from->read_code(w->from->arg, w->now.ip, code, sizeof(code));

		if (!x86_decode(code, len, &n) || is_end(&n))
			return false;
		if (!n.map && (n.opcode == 0xc3 || n.opcode == 0xc2))
			return follow_return(w, &n);
		w->now.ip += n.len;
		if (x86_is_conditional(&n) && w->jumps < JUMPS_MAX) {
			w->jump[w->jumps] = w->now;
			w->jump[w->jumps++].ip += (uint64_t)n.immediate;
		}
		if (x86_is_jump(&n))
			w->now.ip += (uint64_t)n.immediate;
		else if (!change_stack(w, &n))
			return false;
	}
	return false;
}

bool step_out(const struct step_from *from, uint64_t *ip, uint64_t reg[STEP_REGS])
{
	struct way w = {.from = from, .begin = reg[STEP_SP], .now = {.ip = *ip}};
	bool returns;

	memcpy(w.now.reg, reg, sizeof(w.now.reg));
	while (!(returns = follow(&w)) && w.jumps && w.steps < STEPS_MAX)
		w.now = w.jump[--w.jumps];
	/* A caller's stack is above. */
	if (!returns || (int64_t)(w.now.reg[STEP_SP] - reg[STEP_SP]) <= 0)
		return false;
	*ip = w.now.ip;
	memcpy(reg, w.now.reg, sizeof(w.now.reg));
	return true;
}
