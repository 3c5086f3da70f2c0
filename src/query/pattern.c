// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Runs a program over a text: all parts that can be reached are tried together, byte by byte, and
 * each at most once at a byte. A byte costs no more steps than the program has parts, whatever the
 * program is; nothing is tried again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "base/array.h"
#include "query/pattern_program.h"

/* ---- to make one ---- */

int program_add(struct pattern *p, enum part_kind kind, uint8_t byte, ptrdiff_t distance)
{
	struct part *part;

	if (p->count == PATTERN_PARTS_MAX) {
		p->why = "it is too large (shorten it, or repeat less)";
		return -EINVAL;
	}
	part = grow_items(p->part, p->count, &p->capacity, 64, sizeof(*part));
	if (!part)
		return -ENOMEM;
	p->part = part;
	part[p->count++] =
		(struct part){.kind = (uint8_t)kind, .byte = byte, .distance = (int32_t)distance};
	return 0;
}

int program_add_class(struct pattern *p, const struct byte_set *set)
{
	struct byte_set *sets;
	int r = program_add(p, PART_CLASS, 0, 0);

	if (r < 0)
		return r;
	sets = grow_items(p->set, p->set_count, &p->set_capacity, 4, sizeof(*sets));
	if (!sets)
		return -ENOMEM;
	p->set = sets;
	sets[p->set_count] = *set;
	p->part[p->count - 1].set = (uint16_t)p->set_count++;
	return 0;
}

int program_insert(struct pattern *p, size_t at, enum part_kind kind, ptrdiff_t distance)
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

/* The parts, and those behind them as often as `more` says; each may be the last, or there is none.
 */
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

int program_repeat(struct pattern *p, size_t start, int least, int most)
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

/* ---- to run it ---- */

static inline void list_add(struct part_list *l, size_t part)
{
	uint32_t at = l->where[part];

	if (at < l->count && l->item[at] == part)
		return;
	l->where[part] = l->count;
	l->item[l->count++] = (uint32_t)part;
}

/* With which bytes a match can begin: as if it began at every place. */
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

static bool holds(uint8_t places, const uint8_t *text, const uint8_t *at)
{
	bool after = at > text && in_word(at[-1]), before = in_word(*at);
	uint8_t here = (at == text ? PLACE_BEGIN : 0) | (*at ? 0 : PLACE_END) |
		       (after ? PLACE_AFTER_WORD : PLACE_AFTER_OTHER) |
		       (before ? PLACE_BEFORE_WORD : PLACE_BEFORE_OTHER);

	return !(places & ~here);
}

/* Tries the parts at one byte; those for the next one go into `next`. True: it matches. */
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
			if (holds(part->byte, text, at))
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

		/* Where none can begin, nothing is to be tried. */
		while (!now->count && !p->empty && *at && !set_has(&p->first, *at))
			at++;
		list_add(now, 0);
		next->count = 0;
		matches = step(p, start, at, now, next);
		/* Bytes are passed over faster than a part is looked at. */
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
