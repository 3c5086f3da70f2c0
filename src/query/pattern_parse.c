// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reads an extended regular expression and makes a program of it, in one pass. What is no such
 * expression is refused, as glibc does.
 */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/parse.h"
#include "query/pattern_program.h"

#define REPEAT_MAX 32767 /* RE_DUP_MAX of glibc */
#define NO_LIMIT   (-1)
#define NO_NUMBER  (-2)

enum token {
	TOKEN_END,
	TOKEN_BYTE,
	TOKEN_DOT,
	TOKEN_HERE,    /* ^ $ \< \> \` \' \B */
	TOKEN_BOUND,   /* \b */
	TOKEN_INSIDE,  /* \B */
	TOKEN_CLASS,   /* \w \W \s \S */
	TOKEN_BRACKET, /* [ */
	TOKEN_OPEN,
	TOKEN_CLOSE,
	TOKEN_OR,
	TOKEN_STAR,
	TOKEN_PLUS,
	TOKEN_QUESTION,
	TOKEN_BRACE,
	TOKEN_BRACE_END,
	TOKEN_REFERENCE, /* \1 */
	TOKEN_BACKSLASH, /* the last byte */
};

struct parser {
	struct pattern *p;
	const char *at; /* behind the token */
	enum token token;
	uint8_t byte;	/* of the token; behind a backslash, the one that follows it */
	uint8_t places; /* TOKEN_HERE */
	unsigned depth;
};

static int bad(struct parser *s, const char *why)
{
	s->p->why = why;
	return -EINVAL;
}

static void take_escaped(struct parser *s)
{
	static const struct {
		char byte;
		uint8_t token, places;
	} known[] = {
		{'<', TOKEN_HERE, PLACE_AFTER_OTHER | PLACE_BEFORE_WORD},
		{'>', TOKEN_HERE, PLACE_AFTER_WORD | PLACE_BEFORE_OTHER},
		{'`', TOKEN_HERE, PLACE_BEGIN},
		{'\'', TOKEN_HERE, PLACE_END},
		{'b', TOKEN_BOUND, 0},
		{'B', TOKEN_INSIDE, 0},
		{'w', TOKEN_CLASS, 0},
		{'W', TOKEN_CLASS, 0},
		{'s', TOKEN_CLASS, 0},
		{'S', TOKEN_CLASS, 0},
	};
	char c = *s->at;

	if (!c) {
		s->token = TOKEN_BACKSLASH;
		return;
	}
	s->at++;
	s->byte = (uint8_t)c;
	s->token = c >= '1' && c <= '9' ? TOKEN_REFERENCE : TOKEN_BYTE;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (known[i].byte == c) {
			s->token = known[i].token;
			s->places = known[i].places;
		}
	}
}

static void take(struct parser *s)
{
	static const char special[] = ".[()|*+?{}";
	static const uint8_t tokens[] = {
		TOKEN_DOT,  TOKEN_BRACKET, TOKEN_OPEN,	   TOKEN_CLOSE, TOKEN_OR,
		TOKEN_STAR, TOKEN_PLUS,	   TOKEN_QUESTION, TOKEN_BRACE, TOKEN_BRACE_END,
	};
	const char *found;
	char c = *s->at;

	s->byte = (uint8_t)c;
	s->token = TOKEN_END;
	if (!c)
		return;
	s->at++;
	s->token = TOKEN_BYTE;
	if (c == '\\') {
		take_escaped(s);
	} else if (c == '^' || c == '$') {
		s->token = TOKEN_HERE;
		s->places = c == '^' ? PLACE_BEGIN : PLACE_END;
	} else if ((found = strchr(special, c))) {
		s->token = tokens[found - special];
	}
}

/* Of {2,3}, up to ',' or '}'. */
static int take_number(struct parser *s)
{
	int n = NO_LIMIT;

	for (;;) {
		take(s);
		if (s->token == TOKEN_END)
			return NO_NUMBER;
		if (s->token == TOKEN_BRACE_END || s->byte == ',')
			return n;
		if (s->token != TOKEN_BYTE || !is_digit((char)s->byte) || n == NO_NUMBER)
			n = NO_NUMBER;
		else if (n <= REPEAT_MAX)
			n = (n < 0 ? 0 : n * 10) + s->byte - '0';
	}
}

static int take_braces(struct parser *s, int *ret_least, int *ret_most)
{
	bool comma;
	int least = take_number(s), most = least;

	comma = s->token == TOKEN_BYTE && s->byte == ',';
	if (least == NO_LIMIT && !comma)
		return bad(s, "{} without a number");
	if (least == NO_LIMIT)
		least = 0; /* {,3} */
	if (least != NO_NUMBER && comma)
		most = take_number(s);
	if (s->token == TOKEN_END)
		return bad(s, "a { has no }");
	if (least == NO_NUMBER || most == NO_NUMBER || s->token != TOKEN_BRACE_END ||
	    (most != NO_LIMIT && least > most))
		return bad(s, "{} holds a number, or two in order: {2}, {2,}, {,3}, {2,3}");
	if (least > REPEAT_MAX || most > REPEAT_MAX)
		return bad(s, "{} repeats too often");
	*ret_least = least;
	*ret_most = most;
	return 0;
}

static bool is_repeat(enum token token)
{
	return token == TOKEN_STAR || token == TOKEN_PLUS || token == TOKEN_QUESTION ||
	       token == TOKEN_BRACE;
}

static int parse_repeats(struct parser *s, size_t start)
{
	int r = 0;

	for (; r == 0 && is_repeat(s->token); take(s)) {
		int least = s->token == TOKEN_PLUS,
		    most = s->token == TOKEN_QUESTION ? 1 : NO_LIMIT;

		if (s->token == TOKEN_BRACE)
			r = take_braces(s, &least, &most);
		if (r == 0)
			r = program_repeat(s->p, start, least, most);
	}
	return r;
}

/* Here, or there. */
static int add_either(struct parser *s, uint8_t places, uint8_t others)
{
	int r = program_add(s->p, PART_SPLIT, 0, 3);

	if (r == 0)
		r = program_add(s->p, PART_HERE, places, 0);
	if (r == 0)
		r = program_add(s->p, PART_JUMP, 0, 2);
	return r < 0 ? r : program_add(s->p, PART_HERE, others, 0);
}

static int add_class(struct parser *s)
{
	struct byte_set set = {};
	char c = (char)s->byte;

	if (to_lower(c) == 'w') {
		class_add("alnum", 5, &set);
		set_add(&set, '_');
	} else {
		class_add("space", 5, &set);
	}
	if (c == 'W' || c == 'S')
		set_negate(&set);
	return program_add_class(s->p, &set);
}

static int add_bracket(struct parser *s)
{
	struct byte_set set;
	int r = bracket_read(&s->at, &set, &s->p->why);

	return r < 0 ? r : program_add_class(s->p, &set);
}

static int parse_choice(struct parser *s);

static int parse_group(struct parser *s)
{
	int r;

	if (s->depth == PATTERN_DEPTH_MAX)
		return bad(s, "too many ( within one another");
	s->depth++;
	take(s);
	r = parse_choice(s);
	s->depth--;
	return r == 0 && s->token != TOKEN_CLOSE ? bad(s, "a ( has no )") : r;
}

/* What can be repeated; no token of what follows is taken. */
static int parse_atom(struct parser *s)
{
	switch (s->token) {
	case TOKEN_DOT:
		return program_add(s->p, PART_ANY, 0, 0);
	case TOKEN_CLASS:
		return add_class(s);
	case TOKEN_BRACKET:
		return add_bracket(s);
	case TOKEN_OPEN:
		return parse_group(s);
	case TOKEN_REFERENCE:
		return bad(s, "\\1 to \\9 are not supported (nothing bounds the time they take)");
	case TOKEN_BACKSLASH:
		return bad(s, "it ends in a backslash");
	default:
		if (is_repeat(s->token))
			return bad(s, "*, +, ? or { has nothing before it to repeat");
		/* '}', and a ')' that closes nothing. */
		return program_add(s->p, PART_BYTE, s->byte, 0);
	}
}

static int parse_expression(struct parser *s)
{
	size_t start = s->p->count;
	int r;

	/* What is a place cannot be repeated. */
	if (s->token == TOKEN_HERE)
		r = program_add(s->p, PART_HERE, s->places, 0);
	else if (s->token == TOKEN_BOUND)
		r = add_either(s, PLACE_AFTER_OTHER | PLACE_BEFORE_WORD,
			       PLACE_AFTER_WORD | PLACE_BEFORE_OTHER);
	else if (s->token == TOKEN_INSIDE)
		r = add_either(s, PLACE_AFTER_WORD | PLACE_BEFORE_WORD,
			       PLACE_AFTER_OTHER | PLACE_BEFORE_OTHER);
	else {
		r = parse_atom(s);
		if (r == 0)
			take(s);
		return r < 0 ? r : parse_repeats(s, start);
	}
	take(s);
	return r;
}

/* Branches between '|', any of which may be empty: each is tried, and goes on behind the last. */
static int parse_choice(struct parser *s)
{
	struct pattern *p = s->p;
	size_t last = 0; /* the jumps at the ends of branches, by the distance to the one before */
	int r = 0;

	for (;;) {
		size_t start = p->count;

		while (r == 0 && s->token != TOKEN_END && s->token != TOKEN_OR &&
		       !(s->depth && s->token == TOKEN_CLOSE))
			r = parse_expression(s);
		if (r < 0 || s->token != TOKEN_OR)
			break;
		take(s);
		r = program_insert(p, start, PART_SPLIT, (ptrdiff_t)(p->count - start + 2));
		if (r == 0)
			r = program_add(p, PART_JUMP, 0, last ? (ptrdiff_t)(p->count - last) : 0);
		last = p->count - 1;
	}
	while (r == 0 && last) {
		size_t before = p->part[last].distance ? last - (size_t)p->part[last].distance : 0;

		p->part[last].distance = (int32_t)(p->count - last);
		last = before;
	}
	return r;
}

int pattern_parse(struct pattern *p, const char *text)
{
	struct parser s = {.p = p, .at = text};
	int r;

	take(&s);
	r = parse_choice(&s);
	return r < 0 ? r : program_add(p, PART_MATCH, 0, 0);
}
