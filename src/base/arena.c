// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Bump allocation out of a list of blocks. Knows nothing about what is kept in them. */
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

/*
 * Blocks double in size, so a snapshot needs few and, as the newest is the one that clear keeps, a
 * repeated collection soon needs just one.
 */
static struct arena_block *add_block(struct arena *a, size_t len)
{
	size_t size = a->block ? a->block->size * 2 : BLOCK_MIN;
	struct arena_block *block;

	if (size > BLOCK_MAX)
		size = BLOCK_MAX;
	if (size < len)
		size = len;
	block = malloc(sizeof(*block) + size);
	if (!block)
		return NULL;
	*block = (struct arena_block){.next = a->block, .size = size};
	a->block = block;
	return block;
}

void *arena_alloc(struct arena *a, size_t len)
{
	struct arena_block *block = a->block;
	void *p;

	/* Half of the address space at most, so that no sum here can overflow. */
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

static void free_blocks(struct arena_block *block)
{
	while (block) {
		struct arena_block *next = block->next;

		free(block);
		block = next;
	}
}

void arena_clear(struct arena *a)
{
	if (!a->block)
		return;
	free_blocks(a->block->next);
	a->block->next = NULL;
	a->block->used = 0;
}

void arena_done(struct arena *a)
{
	free_blocks(a->block);
	a->block = NULL;
}
