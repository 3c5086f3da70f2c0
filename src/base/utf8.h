/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* UTF-8 from processes: any byte may come, and must not hurt whoever shows it. */
#ifndef ZMEM_BASE_UTF8_H
#define ZMEM_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Decodes the character at s. Returns its length and the code point, or 0 if the byte at s does not
 * begin a valid one (overlong, surrogate, beyond U+10FFFF, cut off). len must not be 0.
 */
size_t utf8_decode(const char *s, size_t len, uint32_t *ret_char);
/* Columns a character takes on a terminal: 0, 1 or 2. */
unsigned utf8_width(uint32_t c);
/*
 * False for what could steer a terminal or turn the text's direction (C0, DEL, C1, bidi controls)
 * and for what cannot be seen, so that two texts that look the same are the same characters, but
 * for letters of one shape.
 */
bool utf8_printable(uint32_t c);

#endif
