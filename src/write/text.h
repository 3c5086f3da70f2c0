/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes text of processes safe and measures its width. On a terminal, characters that steer the
 * terminal, turn the text's direction or are invisible, and bytes that are not UTF-8, become \xNN
 * for each byte. A backslash becomes two where it would look like an escape or like two, so no name
 * can imitate another. Any other name with a backslash is shown as it is. Other formats have
 * replacements of their own.
 */
#ifndef ZMEM_WRITE_TEXT_H
#define ZMEM_WRITE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/utf8.h"

#define TEXT_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD: in place of a byte that is not UTF-8 */
#define TEXT_ELLIPSIS	 "\xe2\x80\xa6" /* U+2026: in place of the cut part */

/* A character as it is shown, or its escape, which is never cut. */
struct glyph {
	char bytes[16];
	unsigned len;
	unsigned width; /* columns */
};

/* False for characters that must be escaped. */
static inline bool text_safe(uint32_t c)
{
	/*
	 * ASCII first, the common case. Line and paragraph separators break lines for some readers.
	 */
	if (c >= 0x20 && c < 0x7f)
		return true;
	return utf8_printable(c) && c != 0x2028 && c != 0x2029;
}

/* The number of leading bytes that are safe ASCII: one byte, one column. */
size_t text_plain(const char *s, size_t len);
/*
 * Makes the glyph of the character at s, in `len` bytes of a text that ends with NUL. Returns its
 * length in bytes; len must not be 0.
 */
size_t text_glyph(const char *s, size_t len, struct glyph *ret);
/*
 * How many bytes of the text fit `limit` columns (1 or more): all, or what leaves a column for an
 * ellipsis. *ret_width: the columns of these bytes, ellipsis included.
 */
size_t text_fit(const char *s, size_t len, unsigned limit, unsigned *ret_width);

/*
 * The length of the first line of a text that is folded at blanks. A word that is wider than
 * `width` has its own line. 0: any width.
 */
size_t text_fold(const char *s, size_t len, unsigned width);
/* Writes text from column `indent` on, folded; further lines begin there, too. Ends the line. */
void text_put_folded(struct strbuf *out, const char *text, unsigned indent, unsigned width);

/*
 * Writes text in a format without \xNN: `map` returns the replacement of a character, or NULL for
 * the character itself. A byte that is not UTF-8 becomes U+FFFD. Writes at most `max` bytes, whole
 * characters. Inline, so that the compiler inlines `map`.
 */
static inline void text_put_mapped(struct strbuf *out, const char *s, size_t max,
				   const char *(*map)(uint32_t c))
{
	size_t len = strlen(s), from = 0, i = 0;

	while (i < len) {
		uint32_t c = (unsigned char)s[i];
		size_t used = c < 0x80 ? 1 : utf8_decode(s + i, len - i, &c);
		const char *instead = used ? map(c) : TEXT_REPLACEMENT;
		size_t n = instead ? strlen(instead) : used;

		if (n > max)
			break;
		max -= n;
		if (instead) {
			strbuf_put(out, s + from, i - from);
			strbuf_put(out, instead, n);
			from = i + (used ? used : 1);
		}
		i += used ? used : 1;
	}
	strbuf_put(out, s + from, i - from);
}

#endif
