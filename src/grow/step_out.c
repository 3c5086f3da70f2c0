// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Decodes instructions as far as their length and the stack need it ("Intel 64 and IA-32
 * Architectures Software Developer's Manual", volume 2, appendix A). Behind a conditional jump the
 * way goes on; where it ends, in a loop or at an instruction that ends programs, the jump is taken.
 * A call comes back with the stack as it was. One that does not leads into other code: then the
 * address of the return is most likely none that is behind a call.
 */
#include "grow/step_out.h"

#include <string.h>

#define STEPS_MAX   1000 /* instructions of one function */
#define SLOTS	    2048 /* a power of 2, larger */
#define JUMPS_MAX   32	 /* conditional jumps that may still be taken */
#define STORED_MAX  32	 /* words of the stack */
#define LENGTH_MAX  15	 /* of an instruction */
#define CALL_LENGTH 7	 /* of a call that is looked for */

/* ---- an instruction ---- */

struct instruction {
	unsigned map; /* 0, 1 (0F), 2 (0F 38), 3 (0F 3A) */
	uint8_t opcode;
	bool wide;	       /* operands of 64 bits */
	unsigned mod, reg, rm; /* of ModRM; registers with the bits of REX */
	bool indexed;	       /* the address has an index, or none of these registers as base */
	int64_t displacement, immediate;
};

struct cursor {
	const unsigned char *data;
	size_t len, pos;
	bool bad;
};

static uint8_t take(struct cursor *c)
{
	if (c->pos >= c->len) {
		c->bad = true;
		return 0;
	}
	return c->data[c->pos++];
}

static int64_t take_signed(struct cursor *c, size_t size)
{
	uint64_t value = 0;

	for (size_t i = 0; i < size; i++)
		value |= (uint64_t)take(c) << (8 * i);
	if (size && size < 8 && value >> (8 * size - 1))
		value -= (uint64_t)1 << (8 * size);
	return (int64_t)value;
}

/* Of the one-byte opcodes, and of those behind 0F: a bit for each that has ModRM. */
static const uint16_t has_modrm[2][16] = {
	{0x0f0f, 0x0f0f, 0x0f0f, 0x0f0f, 0, 0, 0x0a08, 0, 0xffff, 0, 0, 0, 0x00c3, 0xff0f, 0,
	 0xc0c0},
	{0xa00f, 0xffff, 0xff0f, 0, 0xffff, 0xffff, 0xffff, 0xff7f, 0, 0xffff, 0xf838, 0xffff,
	 0x00ff, 0xffff, 0xffff, 0xffff},
};

static bool is_in(const uint16_t table[16], uint8_t opcode)
{
	return table[opcode >> 4] >> (opcode & 15) & 1;
}

static size_t immediate_size(const struct instruction *n, bool short_operands, bool has_rex_w)
{
	size_t word = short_operands ? 2 : 4;
	uint8_t o = n->opcode;

	if (n->map == 1) {
		if (o >= 0x80 && o <= 0x8f)
			return 4;
		return (o >= 0x70 && o <= 0x73) || o == 0xa4 || o == 0xac || o == 0xba ||
		       o == 0xc2 || (o >= 0xc4 && o <= 0xc6);
	}
	if (n->map)
		return n->map == 3;
	if (o < 0x40)
		return (o & 7) == 4 ? 1 : (o & 7) == 5 ? word : 0;
	if (o >= 0xb8 && o <= 0xbf)
		return has_rex_w ? 8 : word;
	if (o == 0xf6 || o == 0xf7)
		return (n->reg & 7) > 1 ? 0 : o == 0xf6 ? 1 : word;
	if (o == 0xe8 || o == 0xe9)
		return 4;
	if (o == 0x68 || o == 0x69 || o == 0x81 || o == 0xa9 || o == 0xc7)
		return word;
	if (o >= 0xa0 && o <= 0xa3)
		return 8;
	if (o == 0xc2)
		return 2;
	if (o == 0xc8)
		return 3;
	return o == 0x6a || o == 0x6b || (o >= 0x70 && o <= 0x7f) || o == 0x80 || o == 0x83 ||
	       o == 0xa8 || (o >= 0xb0 && o <= 0xb7) || o == 0xc0 || o == 0xc1 || o == 0xc6 ||
	       o == 0xcd || (o >= 0xe0 && o <= 0xe7) || o == 0xeb;
}

static void take_modrm(struct cursor *c, struct instruction *n, unsigned rex)
{
	uint8_t modrm = take(c), sib;
	size_t size;

	n->mod = modrm >> 6;
	n->reg = (modrm >> 3 & 7) | (rex & 4) << 1;
	n->rm = (modrm & 7) | (rex & 1) << 3;
	size = n->mod == 1 ? 1 : n->mod == 2 ? 4 : 0;
	if (n->mod == 3)
		return;
	if ((modrm & 7) == 4) {
		sib = take(c);
		n->rm = (sib & 7) | (rex & 1) << 3;
		n->indexed = (sib >> 3 & 7) != 4 || rex & 2;
		if (n->mod == 0 && (sib & 7) == 5) {
			n->indexed = true;
			size = 4;
		}
	} else if (n->mod == 0 && (modrm & 7) == 5) {
		n->indexed = true; /* by the address of the instruction */
		size = 4;
	}
	n->displacement = take_signed(c, size);
}

/* VEX and EVEX: the map, and no REX. Their instructions do not move the stack. */
static bool take_vector(struct cursor *c, uint8_t first, struct instruction *n)
{
	uint8_t byte = take(c);

	n->map = 1;
	if (first == 0xc4) {
		n->map = byte & 0x1f;
		take(c);
	} else if (first == 0x62) {
		n->map = byte & 7;
		take(c);
		take(c);
	}
	n->opcode = take(c);
	if (n->map == 1 && n->opcode == 0x77)
		return !c->bad;
	take_modrm(c, n, 0);
	take_signed(c, immediate_size(n, false, false));
	/* None of those below. */
	n->map = 4;
	return !c->bad;
}

static bool decode(struct cursor *c, struct instruction *n)
{
	bool short_operands = false;
	unsigned rex = 0;
	uint8_t byte;

	*n = (struct instruction){};
	for (byte = take(c);; byte = take(c)) {
		short_operands |= byte == 0x66;
		if (byte != 0x66 && byte != 0xf2 && byte != 0xf3 && byte != 0xf0 && byte != 0x2e &&
		    byte != 0x36 && byte != 0x3e && byte != 0x26 && byte != 0x64 && byte != 0x65 &&
		    byte != 0x67)
			break;
	}
	if (byte >> 4 == 4) {
		rex = byte & 15;
		byte = take(c);
	} else if (byte == 0xc4 || byte == 0xc5 || byte == 0x62) {
		return take_vector(c, byte, n);
	}
	n->wide = rex & 8;
	if (byte == 0x0f) {
		n->map = 1;
		byte = take(c);
		if (byte == 0x38 || byte == 0x3a) {
			n->map = byte == 0x38 ? 2 : 3;
			byte = take(c);
		}
	}
	n->opcode = byte;
	if (n->map > 1 || is_in(has_modrm[n->map], byte))
		take_modrm(c, n, rex);
	else
		n->rm = (byte & 7) | (rex & 1) << 3;
	n->immediate = take_signed(c, immediate_size(n, short_operands, n->wide));
	return !c->bad;
}

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
	uint64_t hash = w->now.ip * UINT64_C(0x9e3779b97f4a7c15);
	size_t i = (hash >> 40) % SLOTS;

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
static bool is_kept(unsigned reg)
{
	return reg == 3 || reg == STEP_BP || reg >= 12;
}

static bool pop(struct way *w, unsigned reg)
{
	uint64_t value;

	if (read_stack(w, w->now.reg[STEP_SP], &value))
		w->now.reg[reg] = value;
	else if (is_kept(reg))
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
static bool is_on_stack(const struct instruction *n)
{
	return n->mod != 3 && n->wide && !n->indexed && (n->rm == STEP_SP || n->rm == STEP_BP);
}

static uint64_t address_of(const struct way *w, const struct instruction *n)
{
	return w->now.reg[n->rm] + (uint64_t)n->displacement;
}

/* Copies a register to another one, or to the stack, or back. False: the way ends here. */
static bool copy(struct way *w, const struct instruction *n)
{
	bool load = n->opcode == 0x8b;

	if (n->mod == 3 && n->wide)
		return load ? move(w, n->reg, n->rm, 0) : move(w, n->rm, n->reg, 0);
	if (is_on_stack(n) && is_kept(n->reg)) {
		if (load)
			read_stack(w, address_of(w, n), &w->now.reg[n->reg]);
		else
			store(w, address_of(w, n), &w->now.reg[n->reg]);
	}
	/* Another stack. */
	return !load || n->reg != STEP_SP;
}

/* An immediate is added to the stack pointer, or the like. False: the way ends here. */
static bool calculate(struct way *w, const struct instruction *n)
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
static bool is_lost(const struct instruction *n)
{
	uint8_t o = n->opcode;

	if (o < 0x38 && (o & 7) < 4)
		return o & 2 ? n->reg == STEP_SP : n->mod == 3 && n->rm == STEP_SP;
	return (o == 0x87 && (n->reg == STEP_SP || (n->mod == 3 && n->rm == STEP_SP))) ||
	       ((o == 0x94 || o == 0x5c) && n->rm == STEP_SP) || (o == 0x63 && n->reg == STEP_SP);
}

/* False: the way ends here. */
static bool change_stack(struct way *w, const struct instruction *n)
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

/* Whether the instruction may jump to where its immediate says. */
static bool is_conditional(const struct instruction *n)
{
	return n->map == 1 ? n->opcode >= 0x80 && n->opcode <= 0x8f
			   : !n->map && ((n->opcode >= 0x70 && n->opcode <= 0x7f) ||
					 (n->opcode >= 0xe0 && n->opcode <= 0xe3));
}

/* Jumps to what is not known, and what ends programs. */
static bool is_end(const struct instruction *n)
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
	for (size_t i = 0; i < sizeof(indirect) / sizeof(*indirect); i++) {
		const unsigned char *call = code + CALL_LENGTH - indirect[i];

		if (call[0] == 0xff && (call[1] >> 3 & 7) == 2)
			return true;
	}
	return false;
}

static bool take_return(struct way *w, const struct instruction *n)
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
		unsigned char code[LENGTH_MAX];
		struct cursor c = {.data = code};
		struct instruction n;

		c.len = w->from->read_code(w->from->arg, w->now.ip, code, sizeof(code));
		if (!decode(&c, &n) || is_end(&n))
			return false;
		if (!n.map && (n.opcode == 0xc3 || n.opcode == 0xc2))
			return take_return(w, &n);
		w->now.ip += c.pos;
		if (is_conditional(&n) && w->jumps < JUMPS_MAX) {
			w->jump[w->jumps] = w->now;
			w->jump[w->jumps++].ip += (uint64_t)n.immediate;
		}
		if (!n.map && (n.opcode == 0xe9 || n.opcode == 0xeb))
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
