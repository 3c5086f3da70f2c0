/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the kernel writes as \ooo in names: blanks, newlines, backslashes (mangle_path(),
 * fs/seq_file.c). */
#ifndef ZMEM_PROC_OCTAL_H
#define ZMEM_PROC_OCTAL_H

#include <stdbool.h>
#include <stddef.h>

static inline bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

/* The byte that stands at s, escaped or not. Returns how many it takes there; len must not be 0. */
static inline size_t octal_byte(const char *s, size_t len, char *ret)
{
	*ret = s[0];
	if (len < 4 || s[0] != '\\' || s[1] > '3' || !is_octal(s[1]) || !is_octal(s[2]) ||
	    !is_octal(s[3]))
		return 1;
	*ret = (char)((s[1] - '0') * 64 + (s[2] - '0') * 8 + (s[3] - '0'));
	return 4;
}

#endif
