/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Arrays: number of items, growth item by item, release of unused memory, searching, sorting. */
#ifndef ZMEM_BASE_ARRAY_H
#define ZMEM_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/*
 * Makes room for one item behind `count`: `first` items in the beginning, then twice as many as
 * before. Returns the items, which may have moved, or NULL without memory; then the old items stay
 * valid.
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

/*
 * The same for an array and a capacity that their owner keeps: both are pointers to them. False
 * without memory.
 */
#define array_room(items, count, capacity, first)                                                  \
	({                                                                                         \
		void *room_ = grow_items(*(items), count, capacity, first, sizeof(**(items)));     \
		if (room_)                                                                         \
			*(items) = room_;                                                          \
		room_ != NULL;                                                                     \
	})

/* Capacity up to this many items is always kept. */
#define ROOM_SMALL 4096
/* Memory is released when so many uses in a row were small. */
#define ROOM_PATIENCE 60

/*
 * Call it each time with the number of items that were needed. True if less than an eighth of the
 * capacity was needed more than ROOM_PATIENCE times in a row, so that the memory should be
 * released. `idle` is the counter, 0 at first.
 */
static inline bool room_is_idle(size_t capacity, size_t count, unsigned *idle)
{
	*idle = capacity > ROOM_SMALL && count < capacity / 8 ? *idle + 1 : 0;
	return *idle > ROOM_PATIENCE;
}

/* ---- searching and sorting ---- */

/* What a comparison returns for two numbers: less than 0, 0 or more than 0. */
#define ORDER_OF(a, b) (((a) > (b)) - ((a) < (b)))

/* For items that begin with a uint64_t. */
static inline int compare_leading_u64(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return ORDER_OF(*x, *y);
}

/* The same with a uint32_t. */
static inline int compare_leading_u32(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return ORDER_OF(*x, *y);
}

/* Compares structs that begin with a pid. */
static inline int compare_leading_pid(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;

	return ORDER_OF(*x, *y);
}

/* For count_before(). */
static inline bool is_leading_u64_below(const void *item, const void *key)
{
	return compare_leading_u64(item, key) < 0;
}

/*
 * How many items of a sorted array are before the key. The first item that is not is at this index,
 * if there is one.
 */
static inline size_t count_before(const void *items, size_t count, size_t size,
				  bool (*is_before)(const void *item, const void *key),
				  const void *key)
{
	size_t first = 0, end = count;

	while (first < end) {
		size_t middle = first + (end - first) / 2;

		if (is_before((const char *)items + middle * size, key))
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

#define SORT_SIZE_MAX 96 /* bytes of an item */

/* Like qsort_r(), for small items: others do not compile. Equal items end in any order. */
#define sort_items(base, count, size, compare, arg)                                                \
	((void)sizeof(char[(size) <= SORT_SIZE_MAX ? 1 : -1]),                                     \
	 sort_small_items(base, count, size, compare, arg))
void sort_small_items(void *base, size_t count, size_t size,
		      int (*compare)(const void *a, const void *b, void *arg), void *arg);

#endif
