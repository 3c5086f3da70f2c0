// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is left of a text that is too wide. */
#include "unit.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "write/line.h"

TEST(ends)
{
	static const struct {
		const char *text, *shown;
		unsigned limit;
	} cases[] = {
		{"/usr/lib/libc.so.6", "/usr/lib/libc.so.6", 18},
		/* The last name is whole: libc and libm differ. */
		{"/usr/lib/x86_64/libc.so.6", "/usr/…/libc.so.6", 16},
		{"/usr/lib/x86_64/libm.so.6", "/…/libm.so.6", 12},
		{"/usr/lib/x86_64/libm.so.6", "…/libm.so.6", 11},
		{"/a/\xc3\xa4\xc3\xb6\xc3\xbc.txt", "…/\xc3\xa4\xc3\xb6\xc3\xbc.txt", 9},
		{"tmpfs:/dir/name (deleted)", "tmpf…/name (deleted)", 20},
		{"/dir/below/", "…/below/", 8},
		/* The name alone, and its ends. */
		{"/usr/lib/x86_64/libm.so.6", "libm.so.6", 10},
		{"/usr/lib/x86_64/libm.so.6", "lib…o.6", 7},
		{"/usr/lib/x86_64/libm.so.6", "…", 1},
		/* No path. */
		{"memfd:abcdefgh", "mem…gh", 6},
		{"/abcdefgh", "/a…gh", 5},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup(strbuf_done) struct strbuf out = {};
		struct line l = {.out = &out};
		unsigned width = line_text_middle(&l, cases[i].text, cases[i].limit);

		assert_string_equal(strbuf_str(&out), cases[i].shown);
		assert_true(width <= cases[i].limit);
	}
}
