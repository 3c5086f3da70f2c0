// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A stack is a list of numbers of codes, and an entry with its sums; a code is an address in a
 * file. Both are in arrays in the order in which they came, and their numbers never change. Two
 * tables find what is there already: slots of numbers, at least half of them free. The hash of an
 * item says where its search begins, and a free slot ends it. A table that has become half full is
 * made anew with twice as many slots. Nothing is ever removed, so a slot is never free again.
 */
#include "model/stack_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

#define SLOTS_FIRST 4096
#define CODES_MAX   (1u << 22)
#define LABELS_MAX  4096

/* ---- slots ---- */

static uint64_t hash_code(const struct code *c)
{
	return hash_number(hash_number(hash_number(c->vaddr, c->file), c->label), c->jit);
}

static uint64_t hash_of_code(const struct stack_table *t, size_t i)
{
	return hash_code(&t->code[i]);
}

static uint64_t hash_of_stack(const struct stack_table *t, size_t i)
{
	return t->stack[i].hash;
}

/* Makes room for one more item beside the `count` ones. */
static int room(const struct stack_table *t, struct stack_slots *s, size_t count,
		uint64_t (*hash_of)(const struct stack_table *t, size_t i))
{
	size_t larger = s->count ? s->count * 2 : SLOTS_FIRST;
	uint32_t *slot;

	if (count * 2 < s->count)
		return 0;
	slot = calloc(larger, sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		size_t at = hash_of(t, i) & (larger - 1);

		while (slot[at])
			at = (at + 1) & (larger - 1);
		slot[at] = (uint32_t)i + 1;
	}
	free(s->slot);
	*s = (struct stack_slots){slot, larger};
	return 0;
}

/* The slot of the item that is the same, or the free one where it belongs. */
static uint32_t *find_slot(const struct stack_table *t, const struct stack_slots *s, uint64_t hash,
			   bool (*is_same)(const struct stack_table *t, size_t i, const void *item),
			   const void *item)
{
	size_t at = hash & (s->count - 1);

	while (s->slot[at] && !is_same(t, s->slot[at] - 1, item))
		at = (at + 1) & (s->count - 1);
	return &s->slot[at];
}

/* ---- codes and labels ---- */

static bool is_same_code(const struct stack_table *t, size_t i, const void *item)
{
	const struct code *a = &t->code[i], *b = item;

	return a->vaddr == b->vaddr && a->file == b->file && a->label == b->label &&
	       a->jit == b->jit;
}

int stack_table_code(struct stack_table *t, const struct code *code, uint32_t *ret)
{
	int r = room(t, &t->code_slots, t->codes, hash_of_code);
	uint32_t *slot;

	if (r < 0)
		return r;
	slot = find_slot(t, &t->code_slots, hash_code(code), is_same_code, code);
	if (!*slot) {
		if (t->codes >= CODES_MAX && !code->label)
			return -ENOSPC;
		if (!array_room(&t->code, t->codes, &t->code_capacity, 1024))
			return -ENOMEM;
		t->code[t->codes++] = *code;
		*slot = (uint32_t)t->codes;
	}
	*ret = *slot - 1;
	return 0;
}

int stack_table_label(struct stack_table *t, const char *text, uint32_t *ret_code)
{
	struct code code = {.file = NO_FILE};

	for (size_t i = 0; i < t->labels; i++) {
		if (strcmp(t->label[i], text) == 0)
			code.label = (uint32_t)i + 1;
	}
	if (code.label)
		return stack_table_code(t, &code, ret_code);
	if (t->labels >= LABELS_MAX)
		return -ENOSPC;
	if (!array_room(&t->label, t->labels, &t->label_capacity, 16))
		return -ENOMEM;
	t->label[t->labels] = arena_strndup(&t->arena, text, strlen(text));
	if (!t->label[t->labels])
		return -ENOMEM;
	code.label = (uint32_t)++t->labels;
	return stack_table_code(t, &code, ret_code);
}

/* ---- stacks ---- */

static bool is_same_stack(const struct stack_table *t, size_t i, const void *item)
{
	const struct growth_stack *a = &t->stack[i], *b = item;

	return a->hash == b->hash && a->frames == b->frames && a->truncated == b->truncated &&
	       memcmp(a->frame, b->frame, b->frames * sizeof(*b->frame)) == 0;
}

static int add_stack(struct stack_table *t, const struct growth_stack *e)
{
	struct growth_stack *added;
	uint32_t *code;

	if (t->stacks >= STACKS_MAX && !t->code[*e->frame].label)
		return -ENOSPC;
	if (!array_room(&t->stack, t->stacks, &t->stack_capacity, 1024))
		return -ENOMEM;
	code = arena_alloc(&t->arena, e->frames * sizeof(*code));
	if (!code)
		return -ENOMEM;
	memcpy(code, e->frame, e->frames * sizeof(*code));
	added = &t->stack[t->stacks++];
	*added = *e;
	added->frame = code;
	return 0;
}

int stack_table_stack(struct stack_table *t, const uint32_t *code, size_t count, bool truncated,
		      uint32_t *ret)
{
	struct growth_stack e = {
		.frame = code, .frames = count, .truncated = truncated, .hash = truncated};
	int r = room(t, &t->stack_slots, t->stacks, hash_of_stack);
	uint32_t *slot;

	if (r < 0)
		return r;
	for (size_t i = 0; i < count; i++)
		e.hash = hash_number(e.hash, code[i]);
	slot = find_slot(t, &t->stack_slots, e.hash, is_same_stack, &e);
	if (!*slot) {
		r = add_stack(t, &e);
		if (r < 0)
			return r;
		*slot = (uint32_t)t->stacks;
	}
	*ret = *slot - 1;
	return 0;
}

void stack_table_done(struct stack_table *t)
{
	free(t->code);
	free(t->code_slots.slot);
	free(t->stack);
	free(t->stack_slots.slot);
	free(t->label);
	arena_done(&t->arena);
	*t = (struct stack_table){};
}
