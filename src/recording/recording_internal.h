/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Integers, checksums and limits of the bytes of a recording. Tests use them, too. */
#ifndef ZMEM_RECORDING_INTERNAL_H
#define ZMEM_RECORDING_INTERNAL_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

/* get_le16() and put_le16(), and so on: integers at any place. */
#define LITTLE_ENDIAN_INTEGER(bits)                                                                \
	static inline uint##bits##_t get_le##bits(const char *at)                                  \
	{                                                                                          \
		uint##bits##_t v;                                                                  \
                                                                                                   \
		memcpy(&v, at, sizeof(v));                                                         \
		return le##bits##toh(v);                                                           \
	}                                                                                          \
	static inline void put_le##bits(char *at, uint##bits##_t v)                                \
	{                                                                                          \
		v = htole##bits(v);                                                                \
		memcpy(at, &v, sizeof(v));                                                         \
	}

LITTLE_ENDIAN_INTEGER(16)
LITTLE_ENDIAN_INTEGER(32)
LITTLE_ENDIAN_INTEGER(64)

static inline uint32_t crc_of(const char *data, size_t len)
{
	return (uint32_t)crc32_z(0, (const Bytef *)data, len);
}

/*
 * The memory that reading a frame may take: its bytes after decompression, its rows and their
 * texts. `packed`: the bytes of the file that it is decoded from, since its key frame. A row takes
 * about 800 bytes.
 */
#define MEMORY_LEAST  (16u << 20)
#define MEMORY_A_BYTE 512

static inline size_t frame_memory(uint64_t packed)
{
	return packed < SIZE_MAX / 2 / MEMORY_A_BYTE ? MEMORY_LEAST + packed * MEMORY_A_BYTE
						     : SIZE_MAX / 2;
}

#endif
