/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Compares a text with the JSON of the same document: each number, with its unit, and each name in
 * angle brackets must be there. A number may be the difference of two of JSON.
 */
#ifndef TESTS_SAID_H
#define TESTS_SAID_H

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "unit.h"
#include "write/format.h"

#define SAID_NUMBERS 4096

struct said_numbers {
	double item[SAID_NUMBERS];
	size_t count;
};

/* The numbers of a document, outside of its texts. */
static inline void said_read(const char *json, struct said_numbers *ret)
{
	bool text = false;

	ret->count = 0;
	for (const char *at = json; *at; at++) {
		char *end;

		if (text && *at == '\\' && at[1]) {
			at++;
		} else if (*at == '"') {
			text = !text;
		} else if (!text && (isdigit((unsigned char)*at) || *at == '-')) {
			double v = strtod(at, &end);

			if (end > at && ret->count < SAID_NUMBERS)
				ret->item[ret->count++] = v;
			at = end > at ? end - 1 : at;
		}
	}
}

/* "1,234 kB" */
static inline void said_kb(char *buf, double bytes)
{
	char digits[32];
	int len = snprintf(digits, sizeof(digits), "%.0f", floor(fabs(bytes) / 1024)), n = 0;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			buf[n++] = ',';
		buf[n++] = digits[i];
	}
	strcpy(buf + n, " kB");
}

/* Whether a number may be written so. */
static inline bool said_is(double v, const char *token)
{
	static const double unit[] = {1e-9, 1e-6, 1e-3, 1};
	char buf[64];
	double size = fabs(v);

	if (snprintf(buf, sizeof(buf), "%.0f", size) && strcmp(buf, token) == 0)
		return true;
	buf[size < 1.8e19 ? format_size(buf, (uint64_t)size) : 0] = '\0';
	if (strcmp(buf, token) == 0)
		return true;
	for (size_t i = 0; i < sizeof(unit) / sizeof(*unit); i++) {
		buf[format_span(buf, v * unit[i])] = '\0';
		if (strcmp(buf, token) == 0)
			return true;
	}
	buf[size < 1e15 ? format_time(buf, (int64_t)v, TIME_TABLE) : 0] = '\0';
	if (strcmp(buf, token) == 0)
		return true;
	buf[format_percent(buf, v)] = '\0';
	if (strcmp(buf, token) == 0)
		return true;
	said_kb(buf, v);
	return strcmp(buf, token) == 0;
}

static inline bool said_finds(const struct said_numbers *all, const char *token)
{
	for (size_t i = 0; i < all->count; i++)
		if (said_is(all->item[i], token))
			return true;
	for (size_t i = 0; i < all->count; i++)
		for (size_t k = 0; k < all->count; k++)
			if (said_is(all->item[i] - all->item[k], token))
				return true;
	return false;
}

/* The length of a number with its unit, of a span of two units, or of a date with its time. */
static inline size_t said_token(const char *at)
{
	static const char *const unit[] = {" B",  " KiB", " MiB", " GiB", " TiB", " PiB", " EiB",
					   " kB", " us",  " ms",  " min", " h",	  " s",	  " days"};
	size_t len = strspn(at, "0123456789.,");

	if (len == 4 && at[4] == '-' && isdigit((unsigned char)at[5]))
		return strcspn(at, "Z+)") + 1;
	while (len && strchr(".,", at[len - 1]))
		len--;
	for (size_t i = 0; i < sizeof(unit) / sizeof(*unit); i++) {
		size_t n = strlen(unit[i]);

		if (strncmp(at + len, unit[i], n) != 0 || isalnum((unsigned char)at[len + n]))
			continue;
		len += n;
		if (i >= 10 && i <= 11 && at[len] == ' ' && isdigit((unsigned char)at[len + 1]) &&
		    isdigit((unsigned char)at[len + 2]) && at[len + 3] == ' ')
			len += strncmp(at + len + 3, " min", 4) == 0 ? 7 : 5;
		break;
	}
	return len;
}

/* Fails on a wrong plural, an empty part, and a value that is not there. */
static inline void said_check_form(const char *text)
{
	static const char *const wrong[] = {"()",  "[]",  ", ,", ";;", ":,",	":;",  " ,", " ;",
					    "(, ", "; )", "{",	 "}",  ": -\n", " -,", " -;"};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		if (strstr(text, wrong[i]))
			fail_msg("'%s' in: %s", wrong[i], text);
	for (const char *at = text; (at = strstr(at, "1 ")); at += 2) {
		size_t len = strspn(at + 2, "abcdefghijklmnopqrstuvwxyz");
		const char *end = at + 2 + len;

		if ((at > text && (isalnum((unsigned char)at[-1]) || strchr(".,", at[-1]))) ||
		    len < 4)
			continue;
		/* Of an option: --sample 1 takes all. */
		if (at - text > 9 && memcmp(at - 9, "--sample ", 9) == 0)
			continue;
		if (end[-1] == 's' && end[-2] != 's')
			fail_msg("'%.*s' in: %s", (int)(len + 2), at, text);
	}
}

/* `literal`: the numbers that sentences have themselves, each between blanks. */
static inline void said_check(const char *text, const char *json, const char *literal)
{
	static struct said_numbers all;

	said_check_form(text);
	said_read(json, &all);
	for (const char *at = text; *at; at++) {
		char token[64], quoted[66];
		size_t len;

		if (*at == '<') {
			len = strcspn(at, ">") + 1;
			snprintf(token, sizeof(token), "%.*s", (int)len, at);
			if (!strstr(json, token))
				fail_msg("JSON does not have the name %s of: %s\n%s", token, text,
					 json);
			at += len - 1;
			continue;
		}
		if (!isdigit((unsigned char)*at) ||
		    (at > text && (isalnum((unsigned char)at[-1]) || strchr("._/", at[-1]))))
			continue;
		len = said_token(at);
		snprintf(token, sizeof(token), "%.*s", (int)len, at);
		snprintf(quoted, sizeof(quoted), " %s ", token);
		if (!strstr(literal, quoted) && !said_finds(&all, token))
			fail_msg("JSON does not have %s of: %s\n%s", token, text, json);
		at += len - 1;
	}
}

#endif
