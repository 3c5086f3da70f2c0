// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Extended regular expressions. An expression is read in one pass and becomes a program: a list of
 * parts, each of which goes on with the next one unless it says otherwise. Distances are relative,
 * so that a piece of a program can be moved and copied.
 *
 * A program runs over a text byte by byte. At each byte all parts that can be reached are tried,
 * each at most once. So a byte costs at most as many steps as the program has parts.
 */
#include "query/pattern.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/parse.h"

enum part_kind {
	PART_BYTE,
	PART_ANY,   /* any byte */
	PART_CLASS, /* a byte of a set */
	PART_HERE,  /* no byte, but a place in the text */
	PART_SPLIT, /* goes on with the next part, and with the one at the distance */
	PART_JUMP,  /* goes on with the one at the distance */
	PART_MATCH,
};

/* Places, as bits: those of a part must all hold. */
enum place {
	PLACE_BEGIN = 1 << 0,	    /* of the text */
	PLACE_END = 1 << 1,	    /* of the text */
	PLACE_AFTER_WORD = 1 << 2,  /* the byte before is part of a word */
	PLACE_AFTER_OTHER = 1 << 3, /* it is not, or there is none */
	PLACE_BEFORE_WORD = 1 << 4,
	PLACE_BEFORE_OTHER = 1 << 5,
};

struct part {
	uint8_t kind;
	uint8_t byte;	  /* PART_BYTE: the byte; PART_HERE: enum place */
	uint16_t set;	  /* PART_CLASS: the index of the set */
	int32_t distance; /* PART_SPLIT, PART_JUMP */
};

/* No set has NUL, which ends a text. */
struct byte_set {
	uint64_t bits[4];
};

static bool set_has(const struct byte_set *s, uint8_t byte)
{
	return s->bits[byte / 64] >> (byte % 64) & 1;
}

static void set_add(struct byte_set *s, uint8_t byte)
{
	s->bits[byte / 64] |= UINT64_C(1) << (byte % 64);
}

static void set_negate(struct byte_set *s)
{
	for (int i = 0; i < 4; i++)
		s->bits[i] = ~s->bits[i];
	s->bits[0] &= ~UINT64_C(1);
}

/* Parts to try at one place of the text, each once, in the order of arrival. */
struct part_list {
	uint32_t *item, *where; /* where[part]: the index of the part in item, if it is there */
	uint32_t count;
};

struct pattern {
	struct part *part;
	size_t count, capacity;
	struct byte_set *set;
	size_t set_count, set_capacity;
	struct byte_set first; /* bytes that a match can begin with */
	bool empty;	       /* a match may have no bytes */
	struct part_list list[2];
	uint64_t steps;
	const char *why; /* what is wrong with the expression */
};

/* ---- the program ---- */

/* Each function returns 0, -ENOMEM, or -EINVAL and p->why. */
static int program_add(struct pattern *p, enum part_kind kind, uint8_t byte, ptrdiff_t distance)
{
	if (p->count == PATTERN_PARTS_MAX) {
		p->why = "it is too large (shorten it, or repeat less)";
		return -EINVAL;
	}
	if (!array_room(&p->part, p->count, &p->capacity, 64))
		return -ENOMEM;
	p->part[p->count++] =
		(struct part){.kind = (uint8_t)kind, .byte = byte, .distance = (int32_t)distance};
	return 0;
}

static int program_add_class(struct pattern *p, const struct byte_set *set)
{
	int r = program_add(p, PART_CLASS, 0, 0);

	if (r < 0)
		return r;
	if (!array_room(&p->set, p->set_count, &p->set_capacity, 4))
		return -ENOMEM;
	p->set[p->set_count] = *set;
	p->part[p->count - 1].set = (uint16_t)p->set_count++;
	return 0;
}

/* Adds a part before the part at `at`. */
static int program_insert(struct pattern *p, size_t at, enum part_kind kind, ptrdiff_t distance)
{
	int r = program_add(p, kind, 0, distance);
	struct part part;

	if (r < 0)
		return r;
	part = p->part[p->count - 1];
	memmove(p->part + at + 1, p->part + at, (p->count - 1 - at) * sizeof(part));
	p->part[at] = part;
	return 0;
}

static int add_copy(struct pattern *p, size_t from, size_t len)
{
	int r = 0;

	for (size_t i = from; r == 0 && i < from + len; i++) {
		const struct part part = p->part[i];

		r = program_add(p, part.kind, part.byte, part.distance);
		if (r == 0)
			p->part[p->count - 1].set = part.set;
	}
	return r;
}

/* `least` to `most` copies of `len` parts from `start` on; the program may leave after each. */
static int add_optional(struct pattern *p, size_t start, size_t len, int least, int most)
{
	size_t from = least ? start : start + 1, split = least ? p->count : start;
	int r = least ? 0 : program_insert(p, start, PART_SPLIT, 0);

	for (int i = least ? least : 1; r == 0 && i < most; i++) {
		r = program_add(p, PART_SPLIT, 0, 0);
		if (r == 0)
			r = add_copy(p, from, len);
	}
	for (; r == 0 && split < p->count; split += len + 1)
		p->part[split].distance = (int32_t)(p->count - split);
	return r;
}

/* Repeats the parts from `start` on; `most` < 0: without end. */
static int program_repeat(struct pattern *p, size_t start, int least, int most)
{
	size_t len = p->count - start;
	int r = 0;

	if (!most)
		p->count = start;
	if (!most || !len)
		return 0;
	for (int i = 1; r == 0 && i < least; i++)
		r = add_copy(p, start, len);
	if (r < 0 || most == least)
		return r;
	if (most > 0)
		return add_optional(p, start, len, least, most);
	if (least)
		return program_add(p, PART_SPLIT, 0, -(ptrdiff_t)len);
	r = program_insert(p, start, PART_SPLIT, (ptrdiff_t)len + 2);
	return r < 0 ? r : program_add(p, PART_JUMP, 0, -(ptrdiff_t)len - 1);
}

/* ---- the expression; what is no expression is refused, as glibc does ---- */

#define REPEAT_MAX 32767 /* RE_DUP_MAX of glibc */
#define NO_LIMIT   (-1)
#define NO_NUMBER  (-2)

struct parser {
	struct pattern *p;
	const char *at;
	unsigned depth; /* of parentheses */
};

static int parse_error(struct parser *s, const char *why)
{
	s->p->why = why;
	return -EINVAL;
}

/* ---- brackets: which bytes are in [a-z[:digit:]]; a backslash is a byte as any other ---- */

#define NO_END	  "a [ has no ]"
#define BAD_RANGE "a range in [] ends before it begins, or is none"

/* A byte, or a set of bytes that was added already. */
struct element {
	bool is_set;
	uint8_t byte;
};

/* Adds the bytes of a class ("alpha"). False: there is no such class. */
static bool class_add(const char *name, size_t len, struct byte_set *ret)
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
		if (!part_is((struct text_part){name, len}, classes[i].name))
			continue;
		/* ASCII alone: the same in all locales. */
		for (int c = 1; c < 128; c++) {
			if (classes[i].has(c))
				set_add(ret, (uint8_t)c);
		}
		return true;
	}
	return false;
}

/* [:class:], [=x=] or [.x.] of a bracket. */
static int read_named(struct parser *s, struct byte_set *set, struct element *ret)
{
	char kind = s->at[1], end[] = {kind, ']', '\0'};
	const char *name = s->at + 2, *close = strstr(name, end);
	size_t len = close ? (size_t)(close - name) : 0;

	if (!close)
		return parse_error(s, NO_END);
	s->at = close + 2;
	*ret = (struct element){.is_set = kind != '.', .byte = (uint8_t)*name};
	if (kind == ':')
		return class_add(name, len, set)
			       ? 0
			       : parse_error(s, "no such class as in [[:alpha:]]");
	if (len != 1)
		return parse_error(s, "[.x.] and [=x=] are about one byte");
	if (kind == '=')
		set_add(set, (uint8_t)*name);
	return 0;
}

static int read_element(struct parser *s, bool hyphen, struct byte_set *set, struct element *ret)
{
	if (!*s->at)
		return parse_error(s, NO_END);
	if (*s->at == '[' && s->at[1] && strchr(".=:", s->at[1]))
		return read_named(s, set, ret);
	if (*s->at == '-' && !hyphen && s->at[1] != ']')
		return parse_error(s, BAD_RANGE);
	*ret = (struct element){.byte = (uint8_t)*s->at++};
	return 0;
}

/* Reads one byte or class, or a range of bytes. */
static int read_item(struct parser *s, bool first, struct byte_set *set)
{
	struct element from, to;
	int r = read_element(s, first, set, &from);

	if (r < 0 || from.is_set)
		return r;
	to = from;
	if (*s->at == '-' && s->at[1] != ']') {
		s->at++;
		r = read_element(s, true, set, &to);
		if (r < 0)
			return r;
		if (to.is_set || from.byte > to.byte)
			return parse_error(s, BAD_RANGE);
	}
	for (unsigned c = from.byte; c <= to.byte; c++)
		set_add(set, (uint8_t)c);
	return 0;
}

/* Reads what follows '[', and moves behind its ']'. */
static int parse_bracket(struct parser *s)
{
	struct byte_set set = {};
	bool negated = *s->at == '^', first = true;
	int r = 0;

	s->at += negated;
	/* The first ']' is a byte. */
	for (; r == 0 && (first || *s->at != ']'); first = false)
		r = read_item(s, first, &set);
	if (r < 0)
		return r;
	s->at++;
	if (negated)
		set_negate(&set);
	return program_add_class(s->p, &set);
}

/* ---- repeats ---- */

/*
 * A number of {2,3}, and the ',' or '}' behind it, or NUL. As in glibc, an escaped byte counts as
 * the byte, unless it is \1 to \9 or \}.
 */
static int read_number(struct parser *s, char *ret_end)
{
	int n = NO_LIMIT;

	for (;;) {
		char c = *s->at;
		bool escaped = c == '\\';

		*ret_end = c;
		if (!c)
			return NO_NUMBER;
		s->at++;
		if (escaped) {
			c = *ret_end = *s->at;
			s->at += c != '\0';
		}
		if (c == ',' || (c == '}' && !escaped))
			return n;
		if (!is_digit(c) || (escaped && c != '0') || n == NO_NUMBER)
			n = NO_NUMBER;
		else if (n <= REPEAT_MAX)
			n = (n < 0 ? 0 : n * 10) + c - '0';
	}
}

static int read_braces(struct parser *s, int *ret_least, int *ret_most)
{
	char end;
	int least = read_number(s, &end), most = least;
	bool comma = end == ',';

	if (least == NO_LIMIT && !comma)
		return parse_error(s, "{} without a number");
	if (least == NO_LIMIT)
		least = 0; /* {,3} */
	if (least != NO_NUMBER && comma)
		most = read_number(s, &end);
	if (!end)
		return parse_error(s, "a { has no }");
	if (least == NO_NUMBER || most == NO_NUMBER || end != '}' ||
	    (most != NO_LIMIT && least > most))
		return parse_error(s, "{} holds a number, or two in order: {2}, {2,}, {,3}, {2,3}");
	if (least > REPEAT_MAX || most > REPEAT_MAX)
		return parse_error(s, "{} repeats too often");
	*ret_least = least;
	*ret_most = most;
	return 0;
}

static int parse_repeats(struct parser *s, size_t start)
{
	int r = 0;

	while (r == 0 && *s->at && strchr("*+?{", *s->at)) {
		char c = *s->at++;
		int least = c == '+', most = c == '?' ? 1 : NO_LIMIT;

		if (c == '{')
			r = read_braces(s, &least, &most);
		if (r == 0)
			r = program_repeat(s->p, start, least, most);
	}
	return r;
}

/* ---- what can be repeated, and places ---- */

/* A place that is one of two. */
static int add_either(struct parser *s, uint8_t places, uint8_t others)
{
	int r = program_add(s->p, PART_SPLIT, 0, 3);

	if (r == 0)
		r = program_add(s->p, PART_HERE, places, 0);
	if (r == 0)
		r = program_add(s->p, PART_JUMP, 0, 2);
	return r < 0 ? r : program_add(s->p, PART_HERE, others, 0);
}

#define WORD_BEGINS (PLACE_AFTER_OTHER | PLACE_BEFORE_WORD)
#define WORD_ENDS   (PLACE_AFTER_WORD | PLACE_BEFORE_OTHER)

/* The place that an escaped byte means. */
static int add_place(struct parser *s, char c)
{
	switch (c) {
	case '<':
		return program_add(s->p, PART_HERE, WORD_BEGINS, 0);
	case '>':
		return program_add(s->p, PART_HERE, WORD_ENDS, 0);
	case 'b':
		return add_either(s, WORD_BEGINS, WORD_ENDS);
	case 'B':
		return add_either(s, PLACE_AFTER_WORD | PLACE_BEFORE_WORD,
				  PLACE_AFTER_OTHER | PLACE_BEFORE_OTHER);
	default:
		return program_add(s->p, PART_HERE, c == '`' ? PLACE_BEGIN : PLACE_END, 0);
	}
}

/* \w \W \s \S */
static int add_class(struct parser *s, char c)
{
	struct byte_set set = {};

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

/* What follows a backslash and is no place. */
static int parse_escaped(struct parser *s)
{
	char c = *s->at;

	if (!c)
		return parse_error(s, "it ends in a backslash");
	s->at++;
	if (strchr("wWsS", c))
		return add_class(s, c);
	if (c >= '1' && c <= '9')
		return parse_error(
			s, "\\1 to \\9 are not supported (nothing bounds the time they take)");
	return program_add(s->p, PART_BYTE, (uint8_t)c, 0);
}

static int parse_choice(struct parser *s);

static int parse_group(struct parser *s)
{
	int r;

	if (s->depth == PATTERN_DEPTH_MAX)
		return parse_error(s, "too many ( within one another");
	s->depth++;
	r = parse_choice(s);
	s->depth--;
	if (r < 0 || *s->at != ')')
		return r < 0 ? r : parse_error(s, "a ( has no )");
	s->at++;
	return 0;
}

static int parse_expression(struct parser *s)
{
	size_t start = s->p->count;
	char c = *s->at++;
	int r;

	switch (c) {
	case '^':
	case '$':
		/* A place cannot be repeated. */
		return add_place(s, c == '^' ? '`' : '\'');
	case '\\':
		if (*s->at && strchr("<>bB`'", *s->at))
			return add_place(s, *s->at++);
		r = parse_escaped(s);
		break;
	case '.':
		r = program_add(s->p, PART_ANY, 0, 0);
		break;
	case '[':
		r = parse_bracket(s);
		break;
	case '(':
		r = parse_group(s);
		break;
	case '*':
	case '+':
	case '?':
	case '{':
		return parse_error(s, "*, +, ? or { has nothing before it to repeat");
	default:
		/* Also '}', and a ')' without a '('. */
		r = program_add(s->p, PART_BYTE, (uint8_t)c, 0);
	}
	return r < 0 ? r : parse_repeats(s, start);
}

/* Branches between '|'. A branch may be empty. Each is tried, and goes on after the last one. */
static int parse_choice(struct parser *s)
{
	struct pattern *p = s->p;
	size_t last = 0; /* the last jump; its distance leads to the jump of the branch before */
	int r = 0;

	for (;;) {
		size_t start = p->count;

		while (r == 0 && *s->at && *s->at != '|' && !(s->depth && *s->at == ')'))
			r = parse_expression(s);
		if (r < 0 || *s->at != '|')
			break;
		s->at++;
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

/* Compiles the text into parts. */
static int pattern_parse(struct pattern *p, const char *text)
{
	struct parser s = {.p = p, .at = text};
	int r = parse_choice(&s);

	return r < 0 ? r : program_add(p, PART_MATCH, 0, 0);
}

/* ---- a match ---- */

static void list_add(struct part_list *l, size_t part)
{
	uint32_t at = l->where[part];

	if (at < l->count && l->item[at] == part)
		return;
	l->where[part] = l->count;
	l->item[l->count++] = (uint32_t)part;
}

/* Finds the bytes that a match can begin with, whatever the place. */
static void find_first(struct pattern *p)
{
	struct part_list *l = &p->list[0];

	list_add(l, 0);
	for (uint32_t i = 0; i < l->count; i++) {
		const struct part *part = &p->part[l->item[i]];
		struct byte_set any = {};

		if (part->kind == PART_MATCH)
			p->empty = true;
		if (part->kind == PART_SPLIT || part->kind == PART_HERE)
			list_add(l, l->item[i] + 1);
		if (part->kind == PART_SPLIT || part->kind == PART_JUMP)
			list_add(l, (size_t)((ptrdiff_t)l->item[i] + part->distance));
		if (part->kind == PART_BYTE)
			set_add(&p->first, part->byte);
		if (part->kind == PART_ANY)
			set_negate(&any);
		else if (part->kind == PART_CLASS)
			any = p->set[part->set];
		for (int k = 0; k < 4; k++)
			p->first.bits[k] |= any.bits[k];
	}
}

int pattern_compile(const char *text, struct pattern **ret, const char **ret_why)
{
	struct pattern *p = calloc(1, sizeof(*p));
	int r = p ? pattern_parse(p, text) : -ENOMEM;

	for (int i = 0; r == 0 && i < 2; i++) {
		p->list[i].item = calloc(p->count, sizeof(*p->list[i].item));
		p->list[i].where = calloc(p->count, sizeof(*p->list[i].where));
		if (!p->list[i].item || !p->list[i].where)
			r = -ENOMEM;
	}
	if (r < 0) {
		*ret_why = p && r == -EINVAL ? p->why : "out of memory";
		pattern_free(p);
		return r;
	}
	find_first(p);
	*ret = p;
	return 0;
}

void pattern_free(struct pattern *p)
{
	if (!p)
		return;
	for (int i = 0; i < 2; i++) {
		free(p->list[i].item);
		free(p->list[i].where);
	}
	free(p->part);
	free(p->set);
	free(p);
}

void pattern_begin(struct pattern *p)
{
	p->steps = 0;
}

uint64_t pattern_steps(const struct pattern *p)
{
	return p->steps;
}

static bool in_word(uint8_t c)
{
	return is_letter((char)c) || is_digit((char)c) || c == '_';
}

static bool places_hold(uint8_t places, const uint8_t *text, const uint8_t *at)
{
	bool after = at > text && in_word(at[-1]), before = in_word(*at);
	uint8_t here = (at == text ? PLACE_BEGIN : 0) | (*at ? 0 : PLACE_END) |
		       (after ? PLACE_AFTER_WORD : PLACE_AFTER_OTHER) |
		       (before ? PLACE_BEFORE_WORD : PLACE_BEFORE_OTHER);

	return !(places & ~here);
}

/* Tries the parts at one byte. The parts for the next byte go into `next`. True: it matches. */
static bool step(const struct pattern *p, const uint8_t *text, const uint8_t *at,
		 struct part_list *now, struct part_list *next)
{
	for (uint32_t i = 0; i < now->count; i++) {
		size_t index = now->item[i];
		const struct part *part = &p->part[index];

		switch ((enum part_kind)part->kind) {
		case PART_BYTE:
			if (*at == part->byte)
				list_add(next, index + 1);
			break;
		case PART_ANY:
			if (*at)
				list_add(next, index + 1);
			break;
		case PART_CLASS:
			if (set_has(&p->set[part->set], *at))
				list_add(next, index + 1);
			break;
		case PART_HERE:
			if (places_hold(part->byte, text, at))
				list_add(now, index + 1);
			break;
		case PART_SPLIT:
			list_add(now, index + 1);
			list_add(now, (size_t)((ptrdiff_t)index + part->distance));
			break;
		case PART_JUMP:
			list_add(now, (size_t)((ptrdiff_t)index + part->distance));
			break;
		case PART_MATCH:
			return true;
		}
	}
	return false;
}

int pattern_match(struct pattern *p, const char *text)
{
	const uint8_t *start = (const uint8_t *)text, *at = start;
	struct part_list *now = &p->list[0], *next = &p->list[1];

	for (now->count = 0;; at++) {
		const uint8_t *from = at;
		struct part_list *done = now;
		bool matches;

		/* Skips bytes that no match can begin with. */
		while (!now->count && !p->empty && *at && !set_has(&p->first, *at))
			at++;
		list_add(now, 0);
		next->count = 0;
		matches = step(p, start, at, now, next);
		/* Skipping a byte is faster than trying a part. */
		p->steps += now->count + (uint64_t)(at - from) / 8;
		if (matches)
			return 1;
		if (p->steps > PATTERN_STEPS_MAX)
			return -E2BIG;
		if (!*at)
			return 0;
		now = next;
		next = done;
	}
}
