/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Recordings of any bytes whose checksums are right. */
#ifndef ZMEM_TESTS_FUZZ_RECORDING_H
#define ZMEM_TESTS_FUZZ_RECORDING_H

#include "fuzz.h"
#include "recording/wire.h"
#include "recording/recording.h"

/* Puts them right, as far as there are chapters. */
static inline void repair(char *data, size_t len)
{
	size_t at = RECORDING_HEADER_SIZE;

	if (len < at)
		return;
	wire_set32(data + 28, wire_crc(data, 28, NULL, 0));
	while (len - at >= RECORDING_CHAPTER_SIZE && !memcmp(data + at, "CHAP", 4)) {
		uint32_t length = wire_get32(data + at + 28);

		if (length > len - at - RECORDING_CHAPTER_SIZE)
			return;
		wire_set32(data + at + 32,
			   wire_crc(data + at, 32, data + at + RECORDING_CHAPTER_SIZE, length));
		at += RECORDING_CHAPTER_SIZE + length;
	}
	if (len - at >= RECORDING_END_SIZE)
		wire_set32(data + at + 8, wire_crc(data + at, 8, NULL, 0));
}

#endif
