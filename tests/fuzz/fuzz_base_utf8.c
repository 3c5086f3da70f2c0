// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* UTF-8 against its definition: a code point has one encoding, and no other bytes are valid. */
#include "../support/invisible.h"
#include "../support/utf8_valid.h"
#include "fuzz.h"

/* The encoding of a code point; its length, 0 if it has none (surrogates, beyond U+10FFFF). */
static size_t encode(uint32_t c, uint8_t *to)
{
	if (c < 0x80) {
		to[0] = (uint8_t)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (uint8_t)(0xc0 | c >> 6);
		to[1] = (uint8_t)(0x80 | (c & 63));
		return 2;
	}
	if (c >= 0xd800 && c < 0xe000)
		return 0;
	if (c < 0x10000) {
		to[0] = (uint8_t)(0xe0 | c >> 12);
		to[1] = (uint8_t)(0x80 | (c >> 6 & 63));
		to[2] = (uint8_t)(0x80 | (c & 63));
		return 3;
	}
	if (c > 0x10ffff)
		return 0;
	to[0] = (uint8_t)(0xf0 | c >> 18);
	to[1] = (uint8_t)(0x80 | (c >> 12 & 63));
	to[2] = (uint8_t)(0x80 | (c >> 6 & 63));
	to[3] = (uint8_t)(0x80 | (c & 63));
	return 4;
}

/* Every code point once: decoding reverses encoding. */
static void check_all(void)
{
	for (uint32_t c = 0; c < 0x111000; c++) {
		uint8_t bytes[4];
		uint32_t again;
		size_t n = encode(c, bytes);

		FUZZ_CHECK(!n || (utf8_decode((char *)bytes, n, &again) == n && again == c));
		FUZZ_CHECK(utf8_width(c) <= 2);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *s = (const char *)data;
	static bool checked;
	bool valid = true;

	if (!checked)
		check_all();
	checked = true;
	for (size_t i = 0; i < size;) {
		uint8_t bytes[4];
		uint32_t c = 0;
		size_t n = utf8_decode(s + i, size - i, &c);

		valid = valid && n;
		if (n) {
			FUZZ_CHECK(n <= size - i && encode(c, bytes) == n &&
				   !memcmp(bytes, s + i, n));
			FUZZ_CHECK(utf8_valid(s + i, n));
			FUZZ_CHECK(n == 1 || !utf8_valid(s + i, n - 1));
			FUZZ_CHECK(!utf8_printable(c) || (c >= 0x20 && !invisible_char(c)));
		}
		i += n ? n : 1;
	}
	FUZZ_CHECK(utf8_valid(s, size) == valid);
	return 0;
}
