// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Makes text safe for a terminal, character by character. */
#include "write/text.h"

#include <string.h>

size_t text_plain(const char *s, size_t len)
{
	size_t i = 0;

	while (i < len && s[i] >= ' ' && s[i] < 0x7f && s[i] != '\\')
		i++;
	return i;
}

/* Adds \xNN to a glyph. */
static void glyph_hex(struct glyph *g, unsigned char byte)
{
	static const char digit[] = "0123456789abcdef";
	char *to = g->bytes + g->len;

	to[0] = '\\';
	to[1] = 'x';
	to[2] = digit[byte >> 4];
	to[3] = digit[byte & 15];
	g->len += 4;
	g->width += 4;
}

/*
 * Whether a backslash before this text would be taken for the beginning of an escape, or for one of
 * two. Not "\x2d", which units have in their names: a '-' is never escaped.
 */
static bool imitates_escape(const char *next)
{
	static const char digits[] = "0123456789abcdefABCDEF";
	uint32_t c;
	size_t used = utf8_decode(next, strnlen(next, 4), &c);

	if (!*next)
		return false;
	if (*next == '\\' || !used || !text_safe(c))
		return true;
	return next[0] == 'x' && next[1] && strchr(digits, next[1]) && next[2] &&
	       strchr(digits, next[2]) &&
	       (!strchr("234567", next[1]) || (next[1] == '7' && strchr("fF", next[2])));
}

size_t text_glyph(const char *s, size_t len, struct glyph *ret)
{
	uint32_t c;
	size_t used = utf8_decode(s, len, &c);

	ret->len = 0;
	ret->width = 0;
	if (used && c == '\\' && imitates_escape(s + 1)) {
		memcpy(ret->bytes, "\\\\", 2);
		ret->len = 2;
		ret->width = 2;
	} else if (used && text_safe(c)) {
		memcpy(ret->bytes, s, used);
		ret->len = (unsigned)used;
		ret->width = utf8_width(c);
	} else {
		used = used ? used : 1;
		for (size_t i = 0; i < used; i++)
			glyph_hex(ret, (unsigned char)s[i]);
	}
	return used;
}

size_t text_fit(const char *s, size_t len, unsigned limit, unsigned *ret_width)
{
	size_t width = 0, cut = 0, cut_width = 0;

	if (len <= limit && text_plain(s, len) == len) {
		*ret_width = (unsigned)len;
		return len;
	}
	for (size_t i = 0; i < len;) {
		size_t room = limit - width, n = text_plain(s + i, len - i < room ? len - i : room);
		struct glyph g = {.width = (unsigned)n};

		/* If the plain run fills the last column, the ellipsis takes that column. */
		if (n) {
			cut = width + n < limit ? i + n : i + n - 1;
			cut_width = width + n < limit ? width + n : limit - 1;
		} else {
			n = text_glyph(s + i, len - i, &g);
		}
		if (width + g.width > limit) {
			*ret_width = (unsigned)cut_width + 1;
			return cut;
		}
		i += n;
		width += g.width;
		if (width < limit) {
			cut = i;
			cut_width = width;
		}
	}
	*ret_width = (unsigned)width;
	return len;
}

size_t text_fold(const char *s, size_t len, unsigned width)
{
	size_t end = 0;
	unsigned used;

	if (!width || text_fit(s, len, width, &used) == len)
		return len;
	for (size_t i = 1; i < len; i++) {
		if (s[i] != ' ')
			continue;
		if (end && text_fit(s, i, width, &used) < i)
			break;
		end = i;
	}
	return end ? end : len;
}

void text_put_folded(struct strbuf *out, const char *text, unsigned indent, unsigned width)
{
	size_t len = strlen(text);

	for (;;) {
		size_t n = text_fold(text, len, width - indent);

		strbuf_put(out, text, n);
		strbuf_putc(out, '\n');
		if (n == len)
			return;
		strbuf_fill(out, ' ', indent);
		text += n + 1;
		len -= n + 1;
	}
}
