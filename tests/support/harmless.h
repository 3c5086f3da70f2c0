/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Checks that output for line-based parsers cannot break a terminal. */
#ifndef TESTS_HARMLESS_H
#define TESTS_HARMLESS_H

#include "base/strbuf.h"
#include "base/utf8.h"
#include "golden.h"
#include "invisible.h"
#include "write/text.h"

/* Only printable characters and whole lines. */
static inline void assert_harmless(struct strbuf *out, size_t lines)
{
	const char *text = strbuf_str(out);

	assert_int_equal(strbuf_error(out), 0);
	for (size_t i = 0; i < out->len;) {
		uint32_t c;
		size_t n = utf8_decode(text + i, out->len - i, &c);

		assert_true(n && (c == '\n' || (text_safe(c) && !invisible_char(c))));
		lines -= c == '\n';
		i += n;
	}
	assert_int_equal(lines, 0);
}

#endif
