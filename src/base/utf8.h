/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* UTF-8, also from processes: any byte may occur and must not harm the terminal. */
#ifndef ZMEM_BASE_UTF8_H
#define ZMEM_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Decodes the character at s. Returns its length and the code point, or 0 if no valid character
 * begins there (overlong, surrogate, beyond U+10FFFF, cut off). len must not be 0.
 */
size_t utf8_decode(const char *s, size_t len, uint32_t *ret_char);
/* Writes a code point below 2^21, whether it is a character or not. Returns its length. */
size_t utf8_encode(uint32_t c, char ret[4]);
/* The number of terminal columns of a character: 0, 1 or 2. */
unsigned utf8_width(uint32_t c);
/*
 * False for characters that control a terminal or the text's direction (C0, DEL, C1, bidi controls)
 * and for invisible ones, so that two texts that look the same have the same characters, except for
 * letters with the same shape.
 */
bool utf8_printable(uint32_t c);

#endif
