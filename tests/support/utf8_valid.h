/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whether a text is valid UTF-8, as all output of the program must be. */
#ifndef TESTS_UTF8_VALID_H
#define TESTS_UTF8_VALID_H

#include "base/utf8.h"

static inline bool utf8_valid(const char *s, size_t len)
{
	uint32_t c;
	size_t i = 0, n;

	while (i < len && (n = utf8_decode(s + i, len - i, &c)))
		i += n;
	return i == len;
}

#endif
