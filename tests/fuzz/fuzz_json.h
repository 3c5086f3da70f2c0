/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A strict JSON parser (RFC 8259) for tests of our writers: it accepts only what they may write. It
 * checks values and nesting; callers check the meaning.
 */
#ifndef ZMEM_TESTS_FUZZ_JSON_H
#define ZMEM_TESTS_FUZZ_JSON_H

#include "base/utf8.h"
#include "fuzz.h"

#define FUZZ_JSON_MAX 9007199254740991 /* 2^53 - 1 */

struct fuzz_json {
	const char *pos, *end;
	unsigned depth;
	size_t items; /* objects in arrays of the document's own object, but findings */
};

#define JSON_FINDINGS "\"findings\":"

static inline bool json_at_findings(const struct fuzz_json *j)
{
	const size_t len = strlen(JSON_FINDINGS);

	return j->depth == 1 && (size_t)(j->end - j->pos) >= len &&
	       memcmp(j->pos, JSON_FINDINGS, len) == 0;
}

static inline char json_peek(const struct fuzz_json *j)
{
	return j->pos < j->end ? *j->pos : '\0';
}

static inline void json_expect(struct fuzz_json *j, char c)
{
	FUZZ_CHECK(json_peek(j) == c);
	j->pos++;
}

/* The only white space our writers put: a newline before a key or an element. */
static inline void json_skip(struct fuzz_json *j)
{
	while (json_peek(j) == '\n')
		j->pos++;
}

static inline unsigned json_read_unit(struct fuzz_json *j)
{
	unsigned v = 0;

	for (int i = 0; i < 4; i++) {
		char c = json_peek(j);

		FUZZ_CHECK((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'));
		v = v * 16 + (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
		j->pos++;
	}
	return v;
}

static inline uint32_t json_read_escape(struct fuzz_json *j)
{
	char c = json_peek(j);
	uint32_t unit, low;

	j->pos++;
	if (c == '"' || c == '\\')
		return (uint32_t)c;
	FUZZ_CHECK(c == 'u');
	unit = json_read_unit(j);
	if (unit < 0xd800 || unit >= 0xe000)
		return unit;
	FUZZ_CHECK(unit < 0xdc00);
	json_expect(j, '\\');
	json_expect(j, 'u');
	low = json_read_unit(j);
	FUZZ_CHECK(low >= 0xdc00 && low < 0xe000);
	return 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
}

/*
 * Reads a string and calls fn (may be NULL) for each character. Terminal control characters must be
 * escaped.
 */
static inline void json_read_string(struct fuzz_json *j, void (*fn)(void *arg, uint32_t c),
				    void *arg)
{
	json_expect(j, '"');
	while (json_peek(j) != '"') {
		uint32_t c;
		size_t n;

		FUZZ_CHECK(j->pos < j->end);
		if (*j->pos == '\\') {
			j->pos++;
			c = json_read_escape(j);
		} else {
			n = utf8_decode(j->pos, (size_t)(j->end - j->pos), &c);
			FUZZ_CHECK(n && utf8_printable(c) && c != 0x2028 && c != 0x2029);
			j->pos += n;
		}
		if (fn)
			fn(arg, c);
	}
	j->pos++;
}

/* An integer that a double can hold; our writers write no fractions. */
static inline void json_read_number(struct fuzz_json *j)
{
	uint64_t v = 0;
	const char *start;

	if (json_peek(j) == '-')
		j->pos++;
	start = j->pos;
	while (json_peek(j) >= '0' && json_peek(j) <= '9') {
		v = v * 10 + (uint64_t)(*j->pos++ - '0');
		FUZZ_CHECK(v <= FUZZ_JSON_MAX);
	}
	FUZZ_CHECK(j->pos > start && (*start != '0' || j->pos == start + 1));
}

static inline void json_read_value(struct fuzz_json *j);

static inline void json_read_items(struct fuzz_json *j, char close, bool keys)
{
	j->pos++;
	j->depth++;
	FUZZ_CHECK(j->depth < 16);
	json_skip(j);
	if (json_peek(j) != close) {
		for (;;) {
			size_t before = j->items;
			bool findings;

			json_skip(j);
			findings = keys && json_at_findings(j);
			if (keys) {
				json_read_string(j, NULL, NULL);
				json_expect(j, ':');
			} else if (j->depth == 2 && json_peek(j) == '{') {
				j->items++;
			}
			json_read_value(j);
			if (findings)
				j->items = before;
			json_skip(j);
			if (json_peek(j) == close)
				break;
			json_expect(j, ',');
		}
	}
	j->depth--;
	json_expect(j, close);
}

static inline void json_read_word(struct fuzz_json *j, const char *word)
{
	while (*word)
		json_expect(j, *word++);
}

static inline void json_read_value(struct fuzz_json *j)
{
	switch (json_peek(j)) {
	case '{':
		json_read_items(j, '}', true);
		break;
	case '[':
		json_read_items(j, ']', false);
		break;
	case '"':
		json_read_string(j, NULL, NULL);
		break;
	case 'n':
		json_read_word(j, "null");
		break;
	case 't':
		json_read_word(j, "true");
		break;
	case 'f':
		json_read_word(j, "false");
		break;
	default:
		json_read_number(j);
	}
}

/* Reads a whole document. Returns the objects in its arrays, but findings. */
static inline size_t json_read_document(const char *text, size_t len)
{
	struct fuzz_json j = {.pos = text, .end = text + len};

	FUZZ_CHECK(len && text[len - 1] == '\n');
	json_read_value(&j);
	json_expect(&j, '\n');
	FUZZ_CHECK(j.pos == j.end);
	return j.items;
}

#endif
