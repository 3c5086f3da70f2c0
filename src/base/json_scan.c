// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Finds strings in a JSON text (RFC 8259). Numbers are skipped and not checked in every detail. */
#include "base/json_scan.h"

#include <errno.h>

struct json_scanner {
	const char *at, *end;
	char close[JSON_SCAN_DEPTH]; /* '}' or ']' */
	struct json_found found;
};

static void skip_blanks(struct json_scanner *j)
{
	while (j->at < j->end &&
	       (*j->at == ' ' || *j->at == '\t' || *j->at == '\n' || *j->at == '\r'))
		j->at++;
}

/* Steps over the character if it is next, after blanks. */
static bool accept_char(struct json_scanner *j, char c)
{
	skip_blanks(j);
	if (j->at == j->end || *j->at != c)
		return false;
	j->at++;
	return true;
}

/* Scans a string; its quote is next, after blanks. */
static bool scan_string(struct json_scanner *j, struct text_part *ret, bool *ret_escaped)
{
	const char *begin;

	if (!accept_char(j, '"'))
		return false;
	*ret_escaped = false;
	for (begin = j->at; j->at < j->end && *j->at != '"'; j->at++) {
		if ((unsigned char)*j->at < 0x20)
			return false;
		if (*j->at != '\\')
			continue;
		*ret_escaped = true;
		if (++j->at == j->end)
			return false;
	}
	if (j->at == j->end)
		return false;
	*ret = (struct text_part){begin, (size_t)(j->at++ - begin)};
	return true;
}

/* Skips a number, true, false or null. */
static bool skip_word(struct json_scanner *j)
{
	struct text_part word = {j->at, 0};

	while (j->at < j->end && (is_digit(*j->at) || is_letter(*j->at) || *j->at == '-' ||
				  *j->at == '+' || *j->at == '.'))
		j->at++;
	word.len = (size_t)(j->at - word.s);
	return part_is(word, "true") || part_is(word, "false") || part_is(word, "null") ||
	       (word.len && (*word.s == '-' || is_digit(*word.s)));
}

/* Scans the key of the innermost object and its colon. */
static bool scan_key(struct json_scanner *j)
{
	bool escaped;

	return scan_string(j, &j->found.key[j->found.depth - 1], &escaped) && accept_char(j, ':');
}

/* Enters an object or an array. Returns 1 if it has an item, 0 if it is empty and left again. */
static int enter(struct json_scanner *j, bool object)
{
	if (j->found.depth == JSON_SCAN_DEPTH)
		return -E2BIG;
	j->found.key[j->found.depth] = (struct text_part){};
	j->close[j->found.depth++] = object ? '}' : ']';
	if (accept_char(j, object ? '}' : ']')) {
		j->found.depth--;
		return 0;
	}
	return object && !scan_key(j) ? -EINVAL : 1;
}

/* Moves to the next value. Returns 1, 0 at the end of the text, or -EINVAL. */
static int next_value(struct json_scanner *j)
{
	while (j->found.depth) {
		bool object = j->close[j->found.depth - 1] == '}';

		if (accept_char(j, ',')) {
			j->found.item += j->found.depth == 1;
			return object && !scan_key(j) ? -EINVAL : 1;
		}
		if (!accept_char(j, j->close[j->found.depth - 1]))
			return -EINVAL;
		j->found.depth--;
	}
	skip_blanks(j);
	return j->at == j->end ? 0 : -EINVAL;
}

int json_scan(const char *text, size_t len, int (*fn)(void *arg, const struct json_found *found),
	      void *arg)
{
	struct json_scanner j = {.at = text, .end = text + len};
	int r = 1;

	while (r > 0) {
		skip_blanks(&j);
		if (j.at == j.end)
			return -EINVAL;
		if (*j.at == '{' || *j.at == '[') {
			r = enter(&j, *j.at++ == '{');
			if (r)
				continue;
		} else if (*j.at != '"') {
			if (!skip_word(&j))
				return -EINVAL;
		} else {
			if (!scan_string(&j, &j.found.value, &j.found.escaped))
				return -EINVAL;
			r = fn(arg, &j.found);
			if (r)
				return r;
		}
		r = next_value(&j);
	}
	return r;
}

bool json_found_at(const struct json_found *found, const char *const *keys, unsigned depth)
{
	if (found->depth != depth)
		return false;
	for (unsigned i = 0; i < depth; i++) {
		const struct text_part *key = &found->key[i];

		if (!key->s != !keys[i] || (key->s && !part_is(*key, keys[i])))
			return false;
	}
	return true;
}
