// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* How a backslash is shown; fuzz_write_text has the properties of any text. */
#include "unit.h"

#include "base/array.h"
#include "write/text.h"

TEST(backslashes)
{
	static const struct {
		const char *text, *shown;
	} cases[] = {
		{"DOMAIN\\user", "DOMAIN\\user"},
		{"C:\\windows\\a b.exe", "C:\\windows\\a b.exe"},
		{"qemu\\x2d3.scope", "qemu\\x2d3.scope"},
		{"a\\x7e", "a\\x7e"},
		{"a\\x1", "a\\x1"},
		{"a\\", "a\\"},
		/* What looks like an escape. */
		{"a\n", "a\\x0a"},
		{"a\\x0a", "a\\\\x0a"},
		{"a\\x7F", "a\\\\x7F"},
		{"a\\xff", "a\\\\xff"},
		{"a\\\n", "a\\\\\\x0a"},
		{"a\\\\b", "a\\\\\\b"},
		{"a\\\xff", "a\\\\\\xff"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *text = cases[i].text;
		size_t len = strlen(text);
		char shown[64] = "";
		unsigned width;

		for (size_t at = 0; at < len;) {
			struct glyph g;

			at += text_glyph(text + at, len - at, &g);
			strncat(shown, g.bytes, g.len);
		}
		assert_string_equal(shown, cases[i].shown);
		assert_int_equal(text_fit(text, len, 64, &width), len);
		assert_int_equal(width, strlen(shown));
	}
}
