// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "check.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int by_pid(const void *a, const void *b)
{
	const pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

static void add_row(struct document *d, char *line)
{
	char *brace = *line == ',' ? line + 1 : line;

	if (strncmp(brace, "{\"pid\":", 7))
		return;
	if (d->count % 256 == 0)
		d->row = realloc(d->row, (d->count + 256) * sizeof(*d->row));
	if (!d->row)
		abort();
	d->row[d->count++] = (struct row){atoi(brace + 7), brace};
}

bool document_parse(char *text, struct document *ret)
{
	char *save = NULL;

	*ret = (struct document){.text = text};
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		add_row(ret, line);
		if (!strncmp(line, "\"totals\":", 9))
			ret->totals = line;
		if (!strncmp(line, "\"collection\":", 13))
			ret->collection = line;
		if (!strncmp(line, "\"source\":", 9))
			ret->source = line;
	}
	if (ret->count)
		qsort(ret->row, ret->count, sizeof(*ret->row), by_pid);
	return ret->totals && ret->collection && ret->source;
}

void document_done(struct document *d)
{
	free(d->row);
	free(d->text);
	*d = (struct document){};
}

const char *document_find(const struct document *d, pid_t pid)
{
	const struct row *r = NULL;

	if (d->count)
		r = bsearch(&pid, d->row, d->count, sizeof(*d->row), by_pid);
	return r ? r->line : NULL;
}

/*
 * The text after "key": in the line. Quotes inside strings are escaped, so no string can match.
 */
static const char *find_value(const char *line, const char *key)
{
	char pattern[64];
	const char *at;

	snprintf(pattern, sizeof(pattern), "\"%s\":", key);
	at = strstr(line, pattern);
	return at ? at + strlen(pattern) : NULL;
}

bool json_number(const char *line, const char *key, long long *ret)
{
	const char *v = find_value(line, key);
	char *end;

	if (!v || (*v != '-' && (*v < '0' || *v > '9')))
		return false;
	*ret = strtoll(v, &end, 10);
	return *end == ',' || *end == '}';
}

bool json_is_true(const char *line, const char *key)
{
	const char *v = find_value(line, key);

	return v && !strncmp(v, "true", 4);
}

static size_t put_utf8(char *to, uint32_t c)
{
	if (c < 0x80) {
		to[0] = c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = 0xc0 | c >> 6;
		to[1] = 0x80 | (c & 63);
		return 2;
	}
	if (c < 0x10000) {
		to[0] = 0xe0 | c >> 12;
		to[1] = 0x80 | (c >> 6 & 63);
		to[2] = 0x80 | (c & 63);
		return 3;
	}
	to[0] = 0xf0 | c >> 18;
	to[1] = 0x80 | (c >> 12 & 63);
	to[2] = 0x80 | (c >> 6 & 63);
	to[3] = 0x80 | (c & 63);
	return 4;
}

/* The escape behind a backslash at v; moves v behind it. */
static uint32_t read_escape(const char **v)
{
	static const char plain[] = "\"\\/bfnrt", value[] = "\"\\/\b\f\n\r\t";
	const char *p = strchr(plain, **v);
	unsigned c = 0, low = 0;

	if (p && **v) {
		++*v;
		return (unsigned char)value[p - plain];
	}
	if (sscanf(*v, "u%4x", &c) != 1)
		return 0xfffd;
	*v += 5;
	if (c >= 0xd800 && c < 0xdc00 && sscanf(*v, "\\u%4x", &low) == 1) {
		*v += 6;
		c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
	}
	return c;
}

ssize_t json_text(const char *line, const char *key, char *buf, size_t size)
{
	const char *v = find_value(line, key);
	size_t len = 0;

	if (!v || *v++ != '"')
		return -1;
	while (*v && *v != '"' && len + 5 < size) {
		if (*v == '\\') {
			v++;
			len += put_utf8(buf + len, read_escape(&v));
		} else {
			buf[len++] = *v++;
		}
	}
	buf[len] = '\0';
	return *v == '"' ? (ssize_t)len : -1;
}

/* Length of the well-formed character at s (Unicode 15, table 3-7), 0 if it is none. */
static size_t utf8_char(const unsigned char *s, size_t len)
{
	unsigned char low = 0x80, high = 0xbf;
	size_t n;

	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	n = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	if (s[0] == 0xe0)
		low = 0xa0;
	if (s[0] == 0xed)
		high = 0x9f;
	if (s[0] == 0xf0)
		low = 0x90;
	if (s[0] == 0xf4)
		high = 0x8f;
	if (len < n || s[1] < low || s[1] > high)
		return 0;
	for (size_t i = 2; i < n; i++) {
		if (s[i] < 0x80 || s[i] > 0xbf)
			return 0;
	}
	return n;
}

bool json_text_is(const char *line, const char *key, const char *bytes, size_t len)
{
	char want[4096], hex[4096] = "", got[4096], hex_key[64];
	size_t n = 0;
	bool bad = false;
	ssize_t got_len = json_text(line, key, got, sizeof(got));

	for (size_t i = 0; i < len && n + 8 < sizeof(want);) {
		size_t c = utf8_char((const unsigned char *)bytes + i, len - i);

		if (c) {
			memcpy(want + n, bytes + i, c);
		} else {
			memcpy(want + n, "\xef\xbf\xbd", 3);
			bad = true;
		}
		n += c ? c : 3;
		i += c ? c : 1;
	}
	if (got_len != (ssize_t)n || memcmp(got, want, n))
		return false;
	snprintf(hex_key, sizeof(hex_key), "%s_hex", key);
	for (size_t i = 0; i < len && i < sizeof(hex) / 2 - 1; i++)
		sprintf(hex + 2 * i, "%02x", (unsigned char)bytes[i]);
	if (!bad)
		return json_text(line, hex_key, got, sizeof(got)) < 0;
	return json_text(line, hex_key, got, sizeof(got)) >= 0 && !strcmp(got, hex);
}
