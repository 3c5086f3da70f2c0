/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Character classes of ASCII, independent of the locale (unlike <ctype.h>). */
#ifndef ZMEM_BASE_ASCII_H
#define ZMEM_BASE_ASCII_H

#include <stdbool.h>

static inline bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline char to_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static inline char to_upper(char c)
{
	return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/*
 * The value of a lower-case hexadecimal digit, as the kernel writes them; -1 for other characters.
 */
static inline int hex_value(char c)
{
	if (is_digit(c))
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

#endif
