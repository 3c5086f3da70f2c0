/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Text of processes for formats that have no escapes: some characters become other ones. Knows
 * UTF-8; which characters harm is for the format to say.
 */
#ifndef ZMEM_RENDER_TEXT_MAP_H
#define ZMEM_RENDER_TEXT_MAP_H

#include <string.h>

#include "base/strbuf.h"
#include "render/text.h"

/*
 * `map` has what stands for a character, NULL: itself. A byte that is no UTF-8 becomes U+FFFD.
 * Inline, so that `map` is.
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
