// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Bracket expressions: which bytes are in [a-z[:digit:]]. A backslash is a byte as any other. */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "query/pattern_program.h"

#define NO_END	  "a [ has no ]"
#define BAD_RANGE "a range in [] ends before it begins, or is none"

struct bracket {
	const char *at;
	struct byte_set set;
	const char *why;
};

/* A byte, or a set of them that was added already. */
struct element {
	bool is_set;
	uint8_t byte;
};

bool class_add(const char *name, size_t len, struct byte_set *ret)
{
	static const struct {
		const char *name;
		int (*has)(int);
	} classes[] = {
		{"alnum", isalnum}, {"alpha", isalpha}, {"blank", isblank}, {"cntrl", iscntrl},
		{"digit", isdigit}, {"graph", isgraph}, {"lower", islower}, {"print", isprint},
		{"punct", ispunct}, {"space", isspace}, {"upper", isupper}, {"xdigit", isxdigit},
	};

	for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
		if (strlen(classes[i].name) != len || memcmp(classes[i].name, name, len) != 0)
			continue;
		/* Of ASCII, about which all locales agree. */
		for (int c = 1; c < 128; c++) {
			if (classes[i].has(c))
				set_add(ret, (uint8_t)c);
		}
		return true;
	}
	return false;
}

static int bad(struct bracket *b, const char *why)
{
	b->why = why;
	return -EINVAL;
}

/* [:class:], [=x=] or [.x.] of a bracket. */
static int read_named(struct bracket *b, struct element *ret)
{
	char kind = b->at[1], end[] = {kind, ']', '\0'};
	const char *name = b->at + 2, *close = strstr(name, end);
	size_t len = close ? (size_t)(close - name) : 0;

	if (!close)
		return bad(b, NO_END);
	b->at = close + 2;
	*ret = (struct element){.is_set = kind != '.', .byte = (uint8_t)*name};
	if (kind == ':')
		return class_add(name, len, &b->set) ? 0
						     : bad(b, "no such class as in [[:alpha:]]");
	if (len != 1)
		return bad(b, "[.x.] and [=x=] are about one byte");
	if (kind == '=')
		set_add(&b->set, (uint8_t)*name);
	return 0;
}

static int read_element(struct bracket *b, bool hyphen, struct element *ret)
{
	if (!*b->at)
		return bad(b, NO_END);
	if (*b->at == '[' && b->at[1] && strchr(".=:", b->at[1]))
		return read_named(b, ret);
	if (*b->at == '-' && !hyphen && b->at[1] != ']')
		return bad(b, BAD_RANGE);
	*ret = (struct element){.byte = (uint8_t)*b->at++};
	return 0;
}

/* One byte or class, or a range of bytes. */
static int read_item(struct bracket *b, bool first)
{
	struct element from, to;
	int r = read_element(b, first, &from);

	if (r < 0 || from.is_set)
		return r;
	to = from;
	if (*b->at == '-' && b->at[1] != ']') {
		b->at++;
		r = read_element(b, true, &to);
		if (r < 0)
			return r;
		if (to.is_set || from.byte > to.byte)
			return bad(b, BAD_RANGE);
	}
	for (unsigned c = from.byte; c <= to.byte; c++)
		set_add(&b->set, (uint8_t)c);
	return 0;
}

int bracket_read(const char **at, struct byte_set *ret, const char **ret_why)
{
	struct bracket b = {.at = *at};
	bool negated = *b.at == '^', first = true;
	int r = 0;

	b.at += negated;
	/* The first ']' is a byte. */
	for (; r == 0 && (first || *b.at != ']'); first = false)
		r = read_item(&b, first);
	if (r < 0) {
		*ret_why = b.why;
		return r;
	}
	if (negated)
		set_negate(&b.set);
	*at = b.at + 1;
	*ret = b.set;
	return 0;
}
