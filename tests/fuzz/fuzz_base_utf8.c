// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* UTF-8 against its definition: a code point has one encoding, and no other bytes are valid. */
#include "../support/invisible.h"
#include "../support/utf8_valid.h"
#include "fuzz.h"

/* Every number once: characters are decoded, surrogates and others are refused, and cut ones. */
static void check_all(void)
{
	for (uint32_t c = 0; c < 0x200000; c++) {
		bool good = c <= 0x10ffff && !(c >= 0xd800 && c < 0xe000);
		char bytes[4];
		uint32_t again = 0xdead;
		size_t n = utf8_encode(c, bytes);

		FUZZ_CHECK(n == 1 || utf8_decode(bytes, n - 1, &again) == 0);
		FUZZ_CHECK(utf8_decode(bytes, n, &again) == (good ? n : 0));
		FUZZ_CHECK(again == (good ? c : 0xdead) && utf8_valid(bytes, n) == good);
		FUZZ_CHECK(!good || utf8_width(c) <= 2);
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
		char bytes[4];
		uint32_t c = 0;
		size_t n = utf8_decode(s + i, size - i, &c);

		valid = valid && n;
		if (n) {
			FUZZ_CHECK(n <= size - i && utf8_encode(c, bytes) == n &&
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
