// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Two hash tables with open addressing: addresses by their place, stacks by their addresses. */
#include "grow/stack_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "grow/address_space.h"

#define SLOTS_FIRST 4096
#define CODES_MAX   (1u << 22)
#define LABELS_MAX  4096

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 32;
}

static uint64_t hash_code(const struct code *c)
{
	return mix(mix(mix(c->vaddr, c->file), c->label), c->jit);
}

/* Makes room for one more number in the slots; `hash_of` gives the hash of an item. */
static int room(const struct stack_table *t, uint32_t **slot, size_t *slots, size_t count,
		uint64_t (*hash_of)(const struct stack_table *t, size_t i))
{
	size_t larger = *slots ? *slots * 2 : SLOTS_FIRST;
	uint32_t *fresh;

	if (count * 2 < *slots)
		return 0;
	fresh = calloc(larger, sizeof(*fresh));
	if (!fresh)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		size_t at = hash_of(t, i) & (larger - 1);

		while (fresh[at])
			at = (at + 1) & (larger - 1);
		fresh[at] = (uint32_t)i + 1;
	}
	free(*slot);
	*slot = fresh;
	*slots = larger;
	return 0;
}

static uint64_t code_hash(const struct stack_table *t, size_t i)
{
	return hash_code(&t->code[i]);
}

static uint64_t stack_hash(const struct stack_table *t, size_t i)
{
	return t->stack[i].hash;
}

int stack_table_code(struct stack_table *t, const struct code *code, uint32_t *ret)
{
	int r = room(t, &t->code_slot, &t->code_slots, t->codes, code_hash);
	struct code *moved;
	size_t at;

	if (r < 0)
		return r;
	at = hash_code(code) & (t->code_slots - 1);
	for (; t->code_slot[at]; at = (at + 1) & (t->code_slots - 1)) {
		const struct code *c = &t->code[t->code_slot[at] - 1];

		if (c->vaddr != code->vaddr || c->file != code->file || c->label != code->label ||
		    c->jit != code->jit)
			continue;
		*ret = t->code_slot[at] - 1;
		return 0;
	}
	if (t->codes >= CODES_MAX && !code->label)
		return -ENOSPC;
	moved = grow_items(t->code, t->codes, &t->code_capacity, 1024, sizeof(*t->code));
	if (!moved)
		return -ENOMEM;
	t->code = moved;
	t->code[t->codes] = *code;
	*ret = (uint32_t)t->codes++;
	t->code_slot[at] = *ret + 1;
	return 0;
}

int stack_table_label(struct stack_table *t, const char *text, uint32_t *ret_code)
{
	struct code code = {.file = NO_FILE};
	const char **moved;

	for (size_t i = 0; i < t->labels; i++) {
		if (strcmp(t->label[i], text) == 0)
			code.label = (uint32_t)i + 1;
	}
	if (code.label)
		return stack_table_code(t, &code, ret_code);
	if (t->labels >= LABELS_MAX)
		return -ENOSPC;
	moved = grow_items(t->label, t->labels, &t->label_capacity, 16, sizeof(*t->label));
	if (!moved)
		return -ENOMEM;
	t->label = moved;
	t->label[t->labels] = arena_strndup(&t->arena, text, strlen(text));
	if (!t->label[t->labels])
		return -ENOMEM;
	code.label = (uint32_t)++t->labels;
	return stack_table_code(t, &code, ret_code);
}

static int add_stack(struct stack_table *t, size_t slot, const struct stack_entry *e, uint32_t *ret)
{
	struct stack_entry *moved =
		grow_items(t->stack, t->stacks, &t->stack_capacity, 1024, sizeof(*t->stack));
	uint32_t *code;

	if (moved)
		t->stack = moved;
	if (t->stacks >= STACKS_MAX && !t->code[*e->code].label) {
		t->full = true;
		return -ENOSPC;
	}
	code = moved ? arena_alloc(&t->arena, e->count * sizeof(*code)) : NULL;
	if (!code)
		return -ENOMEM;
	memcpy(code, e->code, e->count * sizeof(*code));
	t->stack[t->stacks] = *e;
	t->stack[t->stacks].code = code;
	*ret = (uint32_t)t->stacks++;
	t->stack_slot[slot] = *ret + 1;
	return 0;
}

int stack_table_stack(struct stack_table *t, const uint32_t *code, size_t count, bool truncated,
		      uint32_t *ret)
{
	struct stack_entry e = {
		.code = code, .count = (uint32_t)count, .truncated = truncated, .hash = truncated};
	int r = room(t, &t->stack_slot, &t->stack_slots, t->stacks, stack_hash);
	size_t at;

	if (r < 0)
		return r;
	for (size_t i = 0; i < count; i++)
		e.hash = mix(e.hash, code[i]);
	at = e.hash & (t->stack_slots - 1);
	for (; t->stack_slot[at]; at = (at + 1) & (t->stack_slots - 1)) {
		const struct stack_entry *s = &t->stack[t->stack_slot[at] - 1];

		if (s->hash != e.hash || s->count != e.count || s->truncated != e.truncated ||
		    memcmp(s->code, code, count * sizeof(*code)) != 0)
			continue;
		*ret = t->stack_slot[at] - 1;
		return 0;
	}
	return add_stack(t, at, &e, ret);
}

void stack_table_done(struct stack_table *t)
{
	free(t->code);
	free(t->code_slot);
	free(t->stack);
	free(t->stack_slot);
	free(t->label);
	arena_done(&t->arena);
	*t = (struct stack_table){};
}
