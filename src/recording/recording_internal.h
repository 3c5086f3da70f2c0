/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Integers and checksums in the bytes of a recording. Tests use them, too. */
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

#endif
