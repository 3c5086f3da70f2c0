/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes text of processes in formats without escapes: the format maps harmful characters to
 * harmless ones.
 */
#ifndef ZMEM_RENDER_TEXT_MAP_H
#define ZMEM_RENDER_TEXT_MAP_H

#include <string.h>

#include "base/strbuf.h"
#include "render/text.h"

/*
 * `map` returns the replacement of a character, or NULL for the character itself. A byte that is
 * not UTF-8 becomes U+FFFD. Inline, so that the compiler inlines `map`.
 */
static inline void text_put_mapped(struct strbuf *out, const char *s,
				   const char *(*map)(uint32_t c))
{
	size_t len = strlen(s), from = 0, i = 0;

	while (i < len) {
		uint32_t c = (unsigned char)s[i];
		size_t used = c < 0x80 ? 1 : utf8_decode(s + i, len - i, &c);
		const char *instead = used ? map(c) : TEXT_REPLACEMENT;

		if (instead) {
			strbuf_put(out, s + from, i - from);
			strbuf_puts(out, instead);
			from = i + (used ? used : 1);
		}
		i += used ? used : 1;
	}
	strbuf_put(out, s + from, len - from);
}

#endif
