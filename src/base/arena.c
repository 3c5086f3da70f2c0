// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Memory that is freed as a whole: allocations follow each other in a list of growing blocks. */
#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 8
#define BLOCK_MIN ((size_t)64 * 1024)
#define BLOCK_MAX ((size_t)4 * 1024 * 1024)

struct arena_block {
	struct arena_block *next; /* older */
	size_t size;		  /* of data */
	size_t used;
	_Alignas(ALIGNMENT) char data[];
};

/* Removes a block that is large enough from the spare blocks. */
static struct arena_block *find_spare(struct arena *a, size_t len)
{
	for (struct arena_block **at = &a->spare; *at; at = &(*at)->next) {
		struct arena_block *block = *at;

		if (block->size < len)
			continue;
		*at = block->next;
		return block;
	}
	return NULL;
}

/*
 * Blocks double in size, so a snapshot needs few. Memory of one collection is kept for the next, so
 * a repeated collection allocates nothing.
 */
static struct arena_block *add_block(struct arena *a, size_t len)
{
	size_t size = a->block ? a->block->size * 2 : BLOCK_MIN;
	struct arena_block *block = find_spare(a, len);

	if (size > BLOCK_MAX)
		size = BLOCK_MAX;
	/* Leaves room to grow, or each slightly larger request would get a block of its own. */
	if (size < len)
		size = len + len / 4;
	if (block) {
		size = block->size;
	} else {
		block = malloc(sizeof(*block) + size);
		if (!block)
			return NULL;
	}
	*block = (struct arena_block){.next = a->block, .size = size};
	a->block = block;
	return block;
}

void *arena_alloc(struct arena *a, size_t len)
{
	struct arena_block *block = a->block;
	void *p;

	/* At most half of the address space, so that no sum here can overflow. */
	if (len > SIZE_MAX / 2)
		return NULL;
	len = ((len ? len : 1) + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	if (!block || block->size - block->used < len)
		block = add_block(a, len);
	if (!block)
		return NULL;
	p = block->data + block->used;
	block->used += len;
	return p;
}

void *arena_zalloc(struct arena *a, size_t count, size_t size)
{
	size_t len;
	void *p = __builtin_mul_overflow(count, size, &len) ? NULL : arena_alloc(a, len);

	return p ? memset(p, 0, len) : NULL;
}

char *arena_strndup(struct arena *a, const char *s, size_t len)
{
	char *copy = len < SIZE_MAX ? arena_alloc(a, len + 1) : NULL;

	if (!copy)
		return NULL;
	if (len)
		memcpy(copy, s, len);
	copy[len] = '\0';
	return copy;
}

char *arena_join(struct arena *a, const char *first, const char *second, const char *third)
{
	size_t one = strlen(first), two = strlen(second), three = strlen(third);
	char *text = arena_alloc(a, one + two + three + 1);

	if (!text)
		return NULL;
	memcpy(text, first, one);
	memcpy(text + one, second, two);
	memcpy(text + one + two, third, three + 1);
	return text;
}

struct arena_mark arena_mark(struct arena *a)
{
	return (struct arena_mark){a, a->block, a->block ? a->block->used : 0};
}

void arena_release(struct arena_mark *mark)
{
	struct arena *a = mark->arena;

	while (a->block != mark->block) {
		struct arena_block *block = a->block;

		a->block = block->next;
		block->next = a->spare;
		a->spare = block;
	}
	if (a->block)
		a->block->used = mark->used;
}

static void free_blocks(struct arena_block *block)
{
	while (block) {
		struct arena_block *next = block->next;

		free(block);
		block = next;
	}
}

/* The newest block comes first: it is the largest. */
void arena_clear(struct arena *a)
{
	struct arena_block **end = &a->block;

	while (*end)
		end = &(*end)->next;
	*end = a->spare;
	a->spare = a->block;
	a->block = NULL;
}

void arena_done(struct arena *a)
{
	free_blocks(a->block);
	free_blocks(a->spare);
	*a = (struct arena){0};
}
