/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Integers, checksums and limits of the bytes of a recording. Tests use them, too. */
#ifndef ZMEM_RECORDING_INTERNAL_H
#define ZMEM_RECORDING_INTERNAL_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

static inline uint64_t get_le64(const char *at)
{
	uint64_t v;

	memcpy(&v, at, sizeof(v));
	return le64toh(v);
}

static inline uint32_t get_le32(const char *at)
{
	uint32_t v;

	memcpy(&v, at, sizeof(v));
	return le32toh(v);
}

static inline uint16_t get_le16(const char *at)
{
	uint16_t v;

	memcpy(&v, at, sizeof(v));
	return le16toh(v);
}

static inline void put_le64(char *at, uint64_t v)
{
	v = htole64(v);
	memcpy(at, &v, sizeof(v));
}

static inline void put_le32(char *at, uint32_t v)
{
	v = htole32(v);
	memcpy(at, &v, sizeof(v));
}

static inline void put_le16(char *at, uint16_t v)
{
	v = htole16(v);
	memcpy(at, &v, sizeof(v));
}

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
