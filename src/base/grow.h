/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Arrays that grow by one item at a time. */
#ifndef ZMEM_BASE_GROW_H
#define ZMEM_BASE_GROW_H

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

#endif
