/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A pattern as a program: a list of parts, each of which goes on with the next one unless it says
 * otherwise. Distances are relative, so that a piece of a program can be moved and copied.
 */
#ifndef ZMEM_QUERY_PATTERN_PROGRAM_H
#define ZMEM_QUERY_PATTERN_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query/pattern.h"

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
	PLACE_AFTER_WORD = 1 << 2,  /* the byte before belongs to a word */
	PLACE_AFTER_OTHER = 1 << 3, /* it does not, or there is none */
	PLACE_BEFORE_WORD = 1 << 4,
	PLACE_BEFORE_OTHER = 1 << 5,
};

struct part {
	uint8_t kind;
	uint8_t byte;	  /* PART_BYTE: that one; PART_HERE: places */
	uint16_t set;	  /* PART_CLASS: which one */
	int32_t distance; /* PART_SPLIT, PART_JUMP */
};

/* NUL, which ends a text, is in none. */
struct byte_set {
	uint64_t bits[4];
};

static inline bool set_has(const struct byte_set *s, uint8_t byte)
{
	return s->bits[byte / 64] >> (byte % 64) & 1;
}

static inline void set_add(struct byte_set *s, uint8_t byte)
{
	s->bits[byte / 64] |= UINT64_C(1) << (byte % 64);
}

static inline void set_negate(struct byte_set *s)
{
	for (int i = 0; i < 4; i++)
		s->bits[i] = ~s->bits[i];
	s->bits[0] &= ~UINT64_C(1);
}

/* Parts that are to be tried at one place of the text: each once, in the order of arrival. */
struct part_list {
	uint32_t *item, *where; /* where: the index of each part in item, if it is there */
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
	const char *why; /* what is wrong with it */
};

/* All return 0, -ENOMEM, or -EINVAL and p->why. */
int program_add(struct pattern *p, enum part_kind kind, uint8_t byte, ptrdiff_t distance);
int program_add_class(struct pattern *p, const struct byte_set *set);
/* Before the part at `at`. */
int program_insert(struct pattern *p, size_t at, enum part_kind kind, ptrdiff_t distance);
/* Repeats the parts from `start` on; `most` < 0: without end. */
int program_repeat(struct pattern *p, size_t start, int least, int most);

/* Compiles the text into parts (pattern_parse.c). */
int pattern_parse(struct pattern *p, const char *text);
/* Reads what follows '[', and moves behind its ']' (pattern_bracket.c). -EINVAL and *ret_why. */
int bracket_read(const char **at, struct byte_set *ret, const char **ret_why);
/* Adds the bytes of a class ("alpha"). False: there is no such class. */
bool class_add(const char *name, size_t len, struct byte_set *ret);

#endif
