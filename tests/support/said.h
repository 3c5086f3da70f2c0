/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Compares a text with the JSON of the same document: each number, in the unit that its key has,
 * and each name in angle brackets must be there. What is made of numbers of JSON is listed by their
 * keys.
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

#define SAID_NUMBERS 8192
#define SAID_PATH    96

struct said_numbers {
	struct said_number {
		double value;
		char path[SAID_PATH + 2]; /* ".peak.rss_bytes"; items of an array have its path */
	} item[SAID_NUMBERS];
	size_t count;
	char path[SAID_PATH]; /* of what is being read */
};

static inline void said_add(struct said_numbers *all, double value, const char *more)
{
	struct said_number *n = &all->item[all->count++];

	assert_true(all->count < SAID_NUMBERS);
	n->value = value;
	stpcpy(stpcpy(n->path, all->path), more);
}

/* Reads a value and returns its end. Also counted are the items of an array, PATH#. */
static inline const char *said_read(struct said_numbers *all, const char *at)
{
	const size_t len = strlen(all->path);
	size_t items = 0;
	char *end;

	at += strspn(at, " \n");
	if (*at == '{' || *at == '[') {
		const bool object = *at++ == '{';

		for (at += strspn(at, ", \n"); *at != '}' && *at != ']'; at += strspn(at, ", \n")) {
			if (object) {
				const int key = (int)strcspn(at + 1, "\"");

				snprintf(all->path + len, SAID_PATH - len, ".%.*s", key, at + 1);
				at += key + 3;
			}
			at = said_read(all, at);
			all->path[len] = '\0';
			items++;
		}
		if (!object)
			said_add(all, (double)items, "#");
		return at + 1;
	}
	if (isdigit((unsigned char)*at) || *at == '-') {
		said_add(all, strtod(at, &end), "");
		return end;
	}
	if (*at != '"')
		return at + strspn(at, "truefalsn");
	for (at++; *at != '"'; at++)
		at += *at == '\\';
	return at + 1;
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

static inline bool said_ends(const char *path, const char *end, size_t len)
{
	const size_t all = strlen(path);

	return all >= len && memcmp(path + all - len, end, len) == 0;
}

/* Whether a number with that path may be written so. */
static inline bool said_is(const char *path, double v, const char *token)
{
	static const struct {
		const char *end;
		double ns;
	} unit[] = {{"_ns", 1}, {"_us", 1e3}, {"_ms", 1e6}, {"seconds", 1e9}};
	char buf[64];
	double size = fabs(v);

	if (snprintf(buf, sizeof(buf), "%.0f", size) && strcmp(buf, token) == 0)
		return true;
	for (size_t i = 0; i < sizeof(unit) / sizeof(*unit); i++) {
		if (!said_ends(path, unit[i].end, strlen(unit[i].end)))
			continue;
		buf[format_span(buf, size * unit[i].ns / 1e9)] = '\0';
		if (strcmp(buf, token) == 0)
			return true;
		buf[size < 1e15 ? format_time(buf, (int64_t)v, TIME_TABLE) : 0] = '\0';
		return strcmp(buf, token) == 0;
	}
	if (strstr(path, "bytes")) {
		buf[size < 1.8e19 ? format_size(buf, (uint64_t)size) : 0] = '\0';
		if (strcmp(buf, token) == 0)
			return true;
		buf[size < 1.8e19 ? format_short(buf, (uint64_t)size) : 0] = '\0';
		if (strcmp(buf, token) == 0)
			return true;
		said_kb(buf, v);
		return strcmp(buf, token) == 0;
	}
	if (!strstr(path, "percent") && !strstr(path, "hundredths"))
		return false;
	buf[size < 1.8e19 ? format_ratio(buf, (uint64_t)size) : 0] = '\0';
	if (strcmp(buf, token) == 0)
		return true;
	buf[format_percent(buf, v)] = '\0';
	return strcmp(buf, token) == 0;
}

/*
 * Whether numbers of JSON make the token: "A-B/C" are ends of their paths, from the left to the
 * right, and a quotient is in percent. `v`: of what is left of them.
 */
static inline bool said_made(const struct said_numbers *all, const char *of, const char *path,
			     double v, const char *token)
{
	const char sign = path ? *of++ : '+';
	const size_t len = strcspn(of, "+-/");

	for (size_t i = 0; i < all->count; i++) {
		const struct said_number *n = &all->item[i];
		double x = sign == '-'	 ? v - n->value
			   : sign == '/' ? 100 * v / n->value
					 : v + n->value;
		const char *unit = sign == '/' ? "percent" : path ? path : n->path;

		if (said_ends(n->path, of, len) && n->path[strlen(n->path) - len - 1] == '.' &&
		    (of[len] ? said_made(all, of + len, unit, x, token) : said_is(unit, x, token)))
			return true;
	}
	return false;
}

/* `made`: ends with NULL. */
static inline bool said_finds(const struct said_numbers *all, const char *token,
			      const char *const *made)
{
	for (size_t i = 0; i < all->count; i++)
		if (!strchr(all->item[i].path, '#') &&
		    said_is(all->item[i].path, all->item[i].value, token))
			return true;
	for (; *made; made++)
		if (said_made(all, *made, NULL, 0, token))
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
	/* "1.20G" */
	if (len && at[len] && strchr("BKMGTPE", at[len]) && !isalnum((unsigned char)at[len + 1]))
		return len + 1;
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

/*
 * The first number or name of a text that JSON does not have; NULL: it has all. `literal`: the
 * numbers that sentences have themselves, each between blanks; `made`: those that are made of
 * others (said_made()).
 */
static inline const char *said_missing(const char *text, const char *json, const char *literal,
				       const char *const *made)
{
	static struct said_numbers all;
	size_t len;

	all.count = 0;
	said_read(&all, json);
	for (const char *at = text; *at; at += len) {
		char token[64], quoted[66];

		len = 1;
		if (*at == '<') {
			len = strcspn(at, ">") + 1;
			snprintf(token, sizeof(token), "%.*s", (int)len, at);
			if (!strstr(json, token))
				return at;
			continue;
		}
		if (!isdigit((unsigned char)*at) ||
		    (at > text && (isalnum((unsigned char)at[-1]) || strchr("._/", at[-1]))))
			continue;
		len = said_token(at);
		snprintf(token, sizeof(token), "%.*s", (int)len, at);
		snprintf(quoted, sizeof(quoted), " %s ", token);
		if (!strstr(literal, quoted) && !said_finds(&all, token, made))
			return at;
	}
	return NULL;
}

static inline void said_check(const char *name, const char *text, const char *json,
			      const char *literal, const char *const *made)
{
	const char *missing = said_missing(text, json, literal, made);

	said_check_form(text);
	if (!missing)
		return;
	/* More than a message of cmocka holds. */
	fprintf(stderr, "%s\nThe JSON of %s does not have this: %s\n", json, name, missing);
	fail();
}

#endif
