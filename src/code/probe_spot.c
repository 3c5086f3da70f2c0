// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The way goes straight ahead from the beginning, over instructions of which it is known what they
 * write. An argument that is copied to another register before its own one is overwritten is there.
 */
#include "code/probe_spot.h"

#include "code/x86.h"

#define BIT(reg) (1u << (reg))

struct probe_spot probe_spot_first(void)
{
#if defined(__x86_64__)
	return (struct probe_spot){.word = {14, 13, 12}};
#else
	return (struct probe_spot){.word = {0, 1, 2}};
#endif
}

/*
 * What all kernels since 4.16 do (branch_setup_xol_ops() and push_setup_xol_ops(),
 * arch/x86/kernel/uprobes.c). Longer nops depend on the kernel, and that of five bytes becomes a
 * system call in 6.18. Some prefixes are refused.
 */
static bool is_emulated(const struct x86_instruction *n)
{
	uint8_t o = n->opcode;

	if (n->prefixed || n->map > 1)
		return false;
	if (!n->map && o >= 0x50 && o <= 0x57)
		return !n->rex || n->rex == 0x41;
	if (n->rex)
		return false;
	if (n->map)
		return o >= 0x80 && o <= 0x8f;
	return o == 0x90 || (o >= 0x70 && o <= 0x7f) || o == 0xe8 || x86_is_jump(n);
}

/* What follows 0F. */
static bool find_written_2(const struct x86_instruction *n, unsigned reg, unsigned rm,
			   unsigned *ret)
{
	uint8_t o = n->opcode;

	if (o == 0x1f || (o == 0x1e && n->mod == 3 && n->reg == 7 && n->rm == X86_DX))
		*ret = 0; /* nop, endbr64 */
	else if (o >= 0x90 && o <= 0x9f)
		*ret = rm;
	else if ((o >= 0x40 && o <= 0x4f) || o == 0xaf || o == 0xb6 || o == 0xb7 ||
		 (o >= 0xbc && o <= 0xbf))
		*ret = reg;
	else
		return false;
	return true;
}

static bool find_written_1(const struct x86_instruction *n, unsigned reg, unsigned rm,
			   unsigned *ret)
{
	const unsigned what = n->reg & 7;
	uint8_t o = n->opcode;

	if (o < 0x40 && (o & 7) < 6)
		*ret = o >= 0x38 ? 0 : (o & 7) < 2 ? rm : (o & 7) < 4 ? reg : BIT(X86_AX);
	else if (o == 0x80 || o == 0x81 || o == 0x83)
		*ret = what == 7 ? 0 : rm;
	else if (o == 0x84 || o == 0x85 || o == 0xa8 || o == 0xa9 || (o == 0x90 && !n->rm))
		*ret = 0;
	else if (o == 0x88 || o == 0x89 || o == 0xc0 || o == 0xc1 || (o >= 0xd0 && o <= 0xd3) ||
		 ((o == 0xc6 || o == 0xc7 || o == 0xfe || o == 0xff) && what < 2))
		*ret = rm;
	else if (o == 0x63 || o == 0x69 || o == 0x6b || o == 0x8a || o == 0x8b || o == 0x8d)
		*ret = reg;
	else if (o >= 0xb0 && o <= 0xbf)
		*ret = BIT(n->rm);
	else if (o == 0xf6 || o == 0xf7)
		*ret = what < 2 ? 0 : what < 4 ? rm : BIT(X86_AX) | BIT(X86_DX);
	else if (o == 0x98 || o == 0x99)
		*ret = o == 0x98 ? BIT(X86_AX) : BIT(X86_DX);
	else
		return false;
	return true;
}

static bool has_byte_operand(const struct x86_instruction *n)
{
	uint8_t o = n->opcode;

	if (n->map)
		return o >= 0x90 && o <= 0x9f;
	return (o >= 0xb0 && o <= 0xb7) ||
	       (!(o & 1) && (o < 0x40 || (o >= 0x80 && o <= 0x8a) || o == 0xc0 || o == 0xc6 ||
			     o == 0xd0 || o == 0xd2 || o == 0xf6 || o == 0xfe));
}

/* The registers that it writes, a bit for each. False: that is not known. */
static bool find_written(const struct x86_instruction *n, unsigned *ret)
{
	const unsigned reg = BIT(n->reg), rm = n->mod == 3 ? BIT(n->rm) : 0;

	if (n->map > 1 || !(n->map ? find_written_2 : find_written_1)(n, reg, rm, ret))
		return false;
	/* Without REX these are the second bytes of the first four registers. */
	if (has_byte_operand(n) && !n->rex)
		*ret = (*ret & 0xf) | (*ret >> 4 & 0xf);
	return true;
}

static bool is_copy(const struct x86_instruction *n)
{
	return !n->map && (n->opcode == 0x89 || n->opcode == 0x8b) && n->mod == 3 && n->wide;
}

struct way {
	unsigned has[SPOT_ARGUMENTS]; /* the registers that have it, a bit for each */
	bool moved;
};

/* False: the way ends before this instruction. */
static bool go_on(struct way *w, const struct x86_instruction *n)
{
	unsigned written, from = n->opcode == 0x89 ? n->reg : n->rm;

	if (!find_written(n, &written))
		return false;
	if (written & BIT(X86_SP)) {
		/* The instruction makes room on the stack. */
		if ((n->opcode != 0x81 && n->opcode != 0x83) || (n->reg & 7) != 5 || !n->wide)
			return false;
		w->moved = true;
	}
	for (size_t i = 0; i < SPOT_ARGUMENTS; i++) {
		if (is_copy(n) && w->has[i] & BIT(from))
			w->has[i] |= written;
		else
			w->has[i] &= ~written;
	}
	return true;
}

/* Whether the function jumps behind its beginning, up to there: a call may come there twice. */
static bool is_reached_again(const uint8_t *code, size_t len, size_t at)
{
	struct x86_instruction n;

	for (size_t pos = 0; pos < len; pos += n.len) {
		uint64_t to;

		if (!x86_decode(code + pos, len - pos, &n))
			return true;
		to = pos + n.len + (uint64_t)n.immediate;
		if ((x86_is_conditional(&n) || x86_is_jump(&n)) && to && to <= at)
			return true;
	}
	return false;
}

static struct probe_spot make_spot(const struct way *w, size_t at)
{
	/* The words of the registers, by their numbers in instructions. */
	static const uint8_t word[X86_REGS] = {10, 11, 12, 5, SPOT_LOST, 4, 13, 14,
					       9,  8,  7,  6, 3,	 2, 1,	0};
	struct probe_spot spot = {.at = (uint32_t)at,
				  .flags = SPOT_EMULATED | (w->moved ? SPOT_MOVED : 0)};

	for (size_t i = 0; i < SPOT_ARGUMENTS; i++)
		spot.word[i] = w->has[i] ? word[__builtin_ctz(w->has[i])] : SPOT_LOST;
	return spot;
}

struct probe_spot probe_spot_x86(const uint8_t *code, size_t len)
{
	struct way w = {.has = {BIT(X86_DI), BIT(X86_SI), BIT(X86_DX)}};
	struct x86_instruction n;

	for (size_t pos = 0; x86_decode(code + pos, len - pos, &n); pos += n.len) {
		if (is_emulated(&n)) {
			if (pos && is_reached_again(code, len, pos))
				break;
			return make_spot(&w, pos);
		}
		if (!go_on(&w, &n))
			break;
	}
	return probe_spot_first();
}
