// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The streaming JSON writer: commas, integers, strings. */
#include "write/json_writer.h"

#include <string.h>

#include "write/text.h"

static const char hex_digit[] = "0123456789abcdef";

/* Writes the comma before a value. */
static void json_separate(struct json_writer *w)
{
	if (w->comma)
		strbuf_putc(w->out, ',');
	w->comma = true;
}

static void json_raw(struct json_writer *w, const char *text, size_t len)
{
	json_separate(w);
	strbuf_put(w->out, text, len);
}

void json_begin(struct json_writer *w, char bracket)
{
	json_separate(w);
	strbuf_putc(w->out, bracket);
	w->comma = false;
}

void json_end(struct json_writer *w, char bracket)
{
	strbuf_putc(w->out, bracket);
	w->comma = true;
}

void json_newline(struct json_writer *w)
{
	if (w->comma)
		strbuf_putc(w->out, ',');
	strbuf_putc(w->out, '\n');
	w->comma = false;
}

void json_begin_line(struct json_writer *w, char bracket)
{
	json_newline(w);
	json_begin(w, bracket);
}

void json_end_lines(struct json_writer *w, char bracket)
{
	strbuf_putc(w->out, '\n');
	json_end(w, bracket);
}

void json_key_text(struct json_writer *w, const char *text, size_t len)
{
	size_t skip = w->comma ? 0 : 1;

	strbuf_put(w->out, text + skip, len - skip);
	w->comma = false;
}

void json_key_name(struct json_writer *w, const char *name)
{
	json_put_string(w, name);
	strbuf_putc(w->out, ':');
	w->comma = false;
}

void json_put_null(struct json_writer *w)
{
	json_raw(w, "null", 4);
}

void json_put_bool(struct json_writer *w, bool v)
{
	json_raw(w, v ? "true" : "false", v ? 4 : 5);
}

void json_put_u64(struct json_writer *w, uint64_t v)
{
	if (v > JSON_INTEGER_MAX) {
		json_put_null(w);
		return;
	}
	json_separate(w);
	strbuf_putu(w->out, v);
}

void json_put_hundredths(struct json_writer *w, uint64_t v)
{
	json_put_u64(w, v / 100);
	strbuf_putc(w->out, '.');
	strbuf_putc(w->out, (char)('0' + v / 10 % 10));
	strbuf_putc(w->out, (char)('0' + v % 10));
}

void json_put_i64(struct json_writer *w, int64_t v)
{
	if (v > JSON_INTEGER_MAX || v < -JSON_INTEGER_MAX) {
		json_put_null(w);
		return;
	}
	json_separate(w);
	strbuf_puti(w->out, v);
}

void json_put_known(struct json_writer *w, bool known, uint64_t v)
{
	if (known)
		json_put_u64(w, v);
	else
		json_put_null(w);
}

/* Writes \uXXXX. Returns its length. */
static size_t escape_unit(char *to, uint32_t unit)
{
	to[0] = '\\';
	to[1] = 'u';
	for (int i = 0; i < 4; i++)
		to[2 + i] = hex_digit[unit >> (12 - 4 * i) & 15];
	return 6;
}

/* Writes a character as an escape. Returns its length, at most 12. */
static size_t escape_char(char *to, uint32_t c)
{
	if (c == '"' || c == '\\') {
		to[0] = '\\';
		to[1] = (char)c;
		return 2;
	}
	if (c < 0x10000)
		return escape_unit(to, c);
	escape_unit(to, 0xd800 + ((c - 0x10000) >> 10));
	escape_unit(to + 6, 0xdc00 + ((c - 0x10000) & 0x3ff));
	return 12;
}

/* True for characters that could end a script element or begin a comment in it. */
static bool is_markup(uint32_t c)
{
	return c == '<' || c == '>' || c == '&';
}

/*
 * Encodes the character at s. Returns the number of its bytes. If its encoding exceeds `room`
 * bytes, writes nothing and returns 0.
 */
static size_t encode_char(struct json_writer *w, const char *s, size_t len, size_t *room,
			  unsigned *flags)
{
	char escape[12];
	const char *text = s;
	uint32_t c;
	size_t used = utf8_decode(s, len, &c), encoded = used;

	if (!used) {
		text = TEXT_REPLACEMENT;
		encoded = sizeof(TEXT_REPLACEMENT) - 1;
	} else if (c == '"' || c == '\\' || !text_safe(c) || (w->html && is_markup(c))) {
		text = escape;
		encoded = escape_char(escape, c);
	}
	if (encoded > *room)
		return 0;
	if (!used)
		*flags |= JSON_REPAIRED;
	strbuf_put(w->out, text, encoded);
	*room -= encoded;
	return used ? used : 1;
}

/* The number of leading bytes that need no escape. */
static size_t plain_run(const char *s, size_t len, bool html)
{
	size_t i = 0;

	while (i < len && s[i] >= ' ' && s[i] < 0x7f && s[i] != '"' && s[i] != '\\' &&
	       !(html && is_markup((uint32_t)s[i])))
		i++;
	return i;
}

unsigned json_put_string_max(struct json_writer *w, const char *s, size_t max)
{
	size_t len, i = 0, room = max;
	unsigned flags = 0;

	if (!s) {
		json_put_null(w);
		return 0;
	}
	len = strlen(s);
	json_separate(w);
	strbuf_putc(w->out, '"');
	while (i < len) {
		size_t left = len - i, n = plain_run(s + i, left < room ? left : room, w->html);

		if (n) {
			strbuf_put(w->out, s + i, n);
			room -= n;
		} else {
			n = encode_char(w, s + i, left, &room, &flags);
		}
		if (!n) {
			flags |= JSON_CUT;
			break;
		}
		i += n;
	}
	strbuf_putc(w->out, '"');
	return flags;
}

void json_put_hex(struct json_writer *w, const char *s, size_t max)
{
	json_separate(w);
	strbuf_putc(w->out, '"');
	for (size_t i = 0; s[i] && i < max; i++) {
		unsigned char byte = (unsigned char)s[i];
		char hex[2] = {hex_digit[byte >> 4], hex_digit[byte & 15]};

		strbuf_put(w->out, hex, 2);
	}
	strbuf_putc(w->out, '"');
}
