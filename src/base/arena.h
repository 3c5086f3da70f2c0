/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory that is given back all at once: the strings of a snapshot. Not for several threads. */
#ifndef ZMEM_BASE_ARENA_H
#define ZMEM_BASE_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
	struct arena_block *block; /* the current one; zeroed memory is an empty arena */
	struct arena_block *spare; /* of before the last clear */
};

/* `len` bytes aligned to 8, NULL without memory. */
void *arena_alloc(struct arena *a, size_t len);
/* `count` zeroed items. */
void *arena_zalloc(struct arena *a, size_t count, size_t size);
/* A terminated copy of `len` bytes. */
char *arena_strndup(struct arena *a, const char *s, size_t len);
/*
 * What is taken from the mark on is given back by its release, which is a cleanup: for memory that
 * is of use for one call, in an arena that lasts. Marks are released in the order of a stack.
 */
struct arena_mark {
	struct arena *arena;
	struct arena_block *block;
	size_t used;
};
struct arena_mark arena_mark(struct arena *a);
void arena_release(struct arena_mark *mark);
/* Takes everything back and keeps the memory for later. */
void arena_clear(struct arena *a);
/* Frees everything. */
void arena_done(struct arena *a);

#endif
