/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * FNV-1a, a hash of short texts, and one of numbers. Without a secret seed, texts can be chosen to
 * collide.
 */
#ifndef ZMEM_BASE_HASH_H
#define ZMEM_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HASH_START UINT64_C(0xcbf29ce484222325)

/* Continues a hash with a text; NULL is the empty text. */
static inline uint64_t hash_text(uint64_t hash, const char *text)
{
	for (; text && *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return hash;
}

/* Continues a hash with a number. */
static inline uint64_t hash_number(uint64_t hash, uint64_t number)
{
	hash = (hash ^ number) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 32;
}

/* Continues a hash with bytes, 8 at once. */
static inline uint64_t hash_bytes(uint64_t hash, const void *data, size_t len)
{
	const unsigned char *at = data;
	uint64_t word;

	for (; len >= sizeof(word); len -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		hash = hash_number(hash, word);
	}
	while (len--)
		hash = hash_number(hash, *at++);
	return hash;
}

#endif
