// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Parses lines "Key:   number kB". A number without its unit may be cut off and is ignored. */
#include <string.h>

#include "base/parse.h"
#include "proc/keyed.h"

bool line_next(struct text_part *rest, struct text_part *ret_line)
{
	if (!rest->len || !memchr(rest->s, '\n', rest->len))
		return false;
	*ret_line = part_split(rest, '\n');
	return true;
}

bool keyed_next(const char **pos, const char *end, struct keyed_line *ret_line)
{
	while (*pos < end) {
		const char *start = *pos;
		const char *newline = memchr(start, '\n', end - start);
		const char *stop = newline ? newline : end;
		const char *colon = memchr(start, ':', stop - start);

		*pos = newline ? newline + 1 : end;
		if (!colon)
			continue;
		*ret_line = (struct keyed_line){
			.key = {start, (size_t)(colon - start)},
			.value = colon + 1,
			.end = stop,
			.whole = newline != NULL,
		};
		return true;
	}
	return false;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Larger values are ignored: the sum of two of them would overflow. */
#define BYTES_MAX ((uint64_t)1 << 62)

/* "  1740 kB" in bytes. Captured files may have a '\r' at the end. */
bool keyed_bytes(const struct keyed_line *line, uint64_t *ret_bytes)
{
	const char *p = line->value;
	uint64_t kb;

	if (!scan_u64(&p, line->end, &kb) || kb >= BYTES_MAX / 1024)
		return false;
	while (p < line->end && is_blank(*p))
		p++;
	if (line->end - p < 2 || p[0] != 'k' || p[1] != 'B')
		return false;
	p += 2;
	while (p < line->end && is_blank(*p))
		p++;
	if (p != line->end)
		return false;
	*ret_bytes = kb * 1024;
	return true;
}

bool keyed_counter(const struct keyed_line *line, struct keyed_counters *counters)
{
	unsigned i = counters->next;

	/* The kernel keeps its order, so the first try usually finds the name. */
	for (unsigned tries = 0; tries < counters->count; tries++, i++) {
		if (i >= counters->count)
			i = 0;
		if (!part_same(line->key, counters->name[i]))
			continue;
		if (!(counters->have & (1u << i)) && keyed_bytes(line, &counters->value[i]))
			counters->have |= 1u << i;
		counters->next = i + 1;
		return true;
	}
	return false;
}

/* ---- escaped names ---- */

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

/* Cuts the next byte off a text that is not empty, and decodes it if it is written as \ooo. */
static char octal_next(struct text_part *text)
{
	const char *s = text->s;
	bool escaped = text->len >= 4 && s[0] == '\\' && s[1] <= '3' && is_octal(s[1]) &&
		       is_octal(s[2]) && is_octal(s[3]);

	*text = part_behind(*text, escaped ? 4 : 1);
	return escaped ? (char)((s[1] - '0') * 64 + (s[2] - '0') * 8 + (s[3] - '0')) : s[0];
}

size_t octal_decode(struct text_part text, char *buf, size_t cap)
{
	size_t len = 0;

	for (; text.len; len++) {
		char c = octal_next(&text);

		if (c == '\0')
			return 0;
		if (len < cap - 1)
			buf[len] = c;
	}
	buf[len < cap - 1 ? len : cap - 1] = '\0';
	return len;
}

char hex_next(struct text_part *text)
{
	const char *s = text->s;
	bool escaped = text->len >= 4 && s[0] == '\\' && s[1] == 'x' && hex_value(s[2]) >= 0 &&
		       hex_value(s[3]) >= 0;

	*text = part_behind(*text, escaped ? 4 : 1);
	return escaped ? (char)(hex_value(s[2]) << 4 | hex_value(s[3])) : s[0];
}
