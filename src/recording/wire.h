/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Integers of a recording, and its checksum. */
#ifndef ZMEM_RECORDING_WIRE_H
#define ZMEM_RECORDING_WIRE_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

static inline uint64_t wire_get64(const char *at)
{
	uint64_t v;

	memcpy(&v, at, sizeof(v));
	return le64toh(v);
}

static inline uint32_t wire_get32(const char *at)
{
	uint32_t v;

	memcpy(&v, at, sizeof(v));
	return le32toh(v);
}

static inline uint16_t wire_get16(const char *at)
{
	uint16_t v;

	memcpy(&v, at, sizeof(v));
	return le16toh(v);
}

static inline void wire_set64(char *at, uint64_t v)
{
	v = htole64(v);
	memcpy(at, &v, sizeof(v));
}

static inline void wire_set32(char *at, uint32_t v)
{
	v = htole32(v);
	memcpy(at, &v, sizeof(v));
}

static inline void wire_set16(char *at, uint16_t v)
{
	v = htole16(v);
	memcpy(at, &v, sizeof(v));
}

/* Of two pieces, the second of which may be empty. */
static inline uint32_t wire_crc(const char *a, size_t a_len, const char *b, size_t b_len)
{
	uLong crc = crc32_z(0, (const Bytef *)a, a_len);

	return (uint32_t)(b_len ? crc32_z(crc, (const Bytef *)b, b_len) : crc);
}

#endif
