// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * "Intel 64 and IA-32 Architectures Software Developer's Manual", volume 2, appendix A.
 */
#include "code/x86.h"

#include "base/bytes.h"

static uint8_t read_byte(struct bytes *b)
{
	return (uint8_t)bytes_read(b, 1);
}

/* A bit for each opcode that has ModRM: opcodes of one byte, and opcodes behind 0F. */
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

static size_t immediate_size(const struct x86_instruction *n, bool short_operands, bool has_rex_w)
{
	size_t word = short_operands && !has_rex_w ? 2 : 4;
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

static void read_modrm(struct bytes *b, struct x86_instruction *n, unsigned rex)
{
	uint8_t modrm = read_byte(b), sib;
	size_t size;

	n->mod = modrm >> 6;
	n->reg = (modrm >> 3 & 7) | (rex & 4) << 1;
	n->rm = (modrm & 7) | (rex & 1) << 3;
	size = n->mod == 1 ? 1 : n->mod == 2 ? 4 : 0;
	if (n->mod == 3)
		return;
	if ((modrm & 7) == 4) {
		sib = read_byte(b);
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
	n->displacement = bytes_read_signed(b, size);
}

/* VEX and EVEX: the map, and no REX. Their instructions do not move the stack. */
static bool read_vector(struct bytes *b, uint8_t first, struct x86_instruction *n)
{
	uint8_t byte = read_byte(b);

	n->map = 1;
	if (first == 0xc4) {
		n->map = byte & 0x1f;
		read_byte(b);
	} else if (first == 0x62) {
		n->map = byte & 7;
		read_byte(b);
		read_byte(b);
	}
	n->opcode = read_byte(b);
	if (n->map == 1 && n->opcode == 0x77)
		return !b->bad;
	read_modrm(b, n, 0);
	bytes_read_signed(b, immediate_size(n, false, false));
	/* None of those below. */
	n->map = 4;
	return !b->bad;
}

static bool read_instruction(struct bytes *b, struct x86_instruction *n)
{
	bool short_operands = false;
	uint8_t byte;

	for (byte = read_byte(b);; byte = read_byte(b)) {
		short_operands |= byte == 0x66;
		if (byte != 0x66 && byte != 0xf2 && byte != 0xf3 && byte != 0xf0 && byte != 0x2e &&
		    byte != 0x36 && byte != 0x3e && byte != 0x26 && byte != 0x64 && byte != 0x65 &&
		    byte != 0x67)
			break;
		n->prefixed = true;
	}
	if (byte >> 4 == 4) {
		n->rex = byte;
		byte = read_byte(b);
	} else if (byte == 0xc4 || byte == 0xc5 || byte == 0x62) {
		return read_vector(b, byte, n);
	}
	n->wide = n->rex & 8;
	if (byte == 0x0f) {
		n->map = 1;
		byte = read_byte(b);
		if (byte == 0x38 || byte == 0x3a) {
			n->map = byte == 0x38 ? 2 : 3;
			byte = read_byte(b);
		}
	}
	n->opcode = byte;
	if (n->map > 1 || is_in(has_modrm[n->map], byte))
		read_modrm(b, n, n->rex);
	else
		n->rm = (byte & 7) | (n->rex & 1) << 3;
	n->immediate = bytes_read_signed(b, immediate_size(n, short_operands, n->wide));
	return !b->bad;
}

bool x86_decode(const unsigned char *code, size_t len, struct x86_instruction *ret)
{
	struct bytes b = {.data = code, .len = len};

	*ret = (struct x86_instruction){};
	if (!read_instruction(&b, ret))
		return false;
	ret->len = b.pos;
	return true;
}

bool x86_is_conditional(const struct x86_instruction *n)
{
	return n->map == 1 ? n->opcode >= 0x80 && n->opcode <= 0x8f
			   : !n->map && ((n->opcode >= 0x70 && n->opcode <= 0x7f) ||
					 (n->opcode >= 0xe0 && n->opcode <= 0xe3));
}

bool x86_is_jump(const struct x86_instruction *n)
{
	return !n->map && (n->opcode == 0xe9 || n->opcode == 0xeb);
}
