/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads numbers one behind the other, in the byte order of this machine, and never past the end. */
#ifndef ZMEM_BASE_BYTES_H
#define ZMEM_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bytes {
	const unsigned char *data;
	size_t len, pos;
	bool bad; /* there were not enough: all further numbers are 0 */
};

/* A number of up to 8 bytes. */
static inline uint64_t bytes_read(struct bytes *b, size_t size)
{
	uint64_t value = 0;

	b->bad |= size > b->len - b->pos;
	if (b->bad)
		return 0;
	memcpy(&value, b->data + b->pos, size);
	b->pos += size;
	return value;
}

/* Reads a number with a sign. */
static inline int64_t bytes_read_signed(struct bytes *b, size_t size)
{
	uint64_t value = bytes_read(b, size);

	if (size && size < 8 && value >> (8 * size - 1))
		value -= (uint64_t)1 << (8 * size);
	return (int64_t)value;
}

#endif
