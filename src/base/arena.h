/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory that is freed all at once, such as the strings of a snapshot. Not thread-safe. */
#ifndef ZMEM_BASE_ARENA_H
#define ZMEM_BASE_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
	struct arena_block *block; /* the current one; zeroed memory is an empty arena */
	struct arena_block *spare; /* blocks from before the last clear or release */
};

/* `len` bytes aligned to 8, NULL without memory. */
void *arena_alloc(struct arena *a, size_t len);
/* `count` zeroed items. */
void *arena_zalloc(struct arena *a, size_t count, size_t size);
/* A terminated copy of `len` bytes. */
char *arena_strndup(struct arena *a, const char *s, size_t len);
/* The texts behind each other. */
char *arena_join(struct arena *a, const char *first, const char *second, const char *third);
/*
 * arena_release() frees everything allocated since the mark. It is a cleanup function, for memory
 * that one call needs in an arena that lives longer. Marks are released in reverse order.
 */
struct arena_mark {
	struct arena *arena;
	struct arena_block *block;
	size_t used;
};
struct arena_mark arena_mark(struct arena *a);
void arena_release(struct arena_mark *mark);
/* Forgets all allocations and keeps the blocks for later. */
void arena_clear(struct arena *a);
/* Frees all blocks. */
void arena_done(struct arena *a);

#endif
