/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Arrays that grow by one item at a time, and that were once much larger than they have to be. */
#ifndef ZMEM_BASE_GROW_H
#define ZMEM_BASE_GROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/*
 * Room for an item more behind `count`: for `first` of them at first, then for twice as many as
 * before. Returns the items, which may have moved, or NULL without memory: then they are as they
 * were.
 */
static inline void *grow_items(void *items, size_t count, size_t *capacity, size_t first,
			       size_t size)
{
	size_t larger = *capacity ? *capacity * 2 : first;
	void *moved;

	if (count < *capacity)
		return items;
	moved = reallocarray(items, larger, size);
	if (moved)
		*capacity = larger;
	return moved;
}

/* What is kept from one time to the next is not worth giving back below so many items. */
#define ROOM_SMALL 4096
/* Nor if it is wanted again soon. */
#define ROOM_PATIENCE 60

/*
 * To be asked each time that `count` of `capacity` items were needed: whether less than an eighth
 * was, so often in a row that it is given back. `idle` counts, from 0.
 */
static inline bool room_is_idle(size_t capacity, size_t count, unsigned *idle)
{
	*idle = capacity > ROOM_SMALL && count < capacity / 8 ? *idle + 1 : 0;
	return *idle > ROOM_PATIENCE;
}

#endif
