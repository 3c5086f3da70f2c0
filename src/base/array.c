// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Sorts by quicksort with the median of three, insertion sort for short ranges, and heapsort where
 * quicksort degenerates, so that no input takes quadratic time. No allocation; recursion depth is
 * logarithmic.
 */
#include "base/array.h"

#include <string.h>

#define INSERTION_MAX 12

struct sort {
	char *base;
	size_t size;
	int (*compare)(const void *a, const void *b, void *arg);
	void *arg;
};

static char *at(const struct sort *s, size_t i)
{
	return s->base + i * s->size;
}

static int cmp(const struct sort *s, size_t i, size_t k)
{
	return s->compare(at(s, i), at(s, k), s->arg);
}

static void swap(const struct sort *s, size_t i, size_t k)
{
	char item[SORT_SIZE_MAX];

	memcpy(item, at(s, i), s->size);
	memmove(at(s, i), at(s, k), s->size);
	memcpy(at(s, k), item, s->size);
}

static void sort_insertion(const struct sort *s, size_t from, size_t end)
{
	char item[SORT_SIZE_MAX];

	for (size_t i = from + 1; i < end; i++) {
		size_t k = i;

		memcpy(item, at(s, i), s->size);
		while (k > from && s->compare(at(s, k - 1), item, s->arg) > 0)
			k--;
		memmove(at(s, k + 1), at(s, k), (i - k) * s->size);
		memcpy(at(s, k), item, s->size);
	}
}

static void sift(const struct sort *s, size_t from, size_t i, size_t count)
{
	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= count)
			return;
		if (child + 1 < count && cmp(s, from + child, from + child + 1) < 0)
			child++;
		if (cmp(s, from + i, from + child) >= 0)
			return;
		swap(s, from + i, from + child);
		i = child;
	}
}

static void sort_heap(const struct sort *s, size_t from, size_t end)
{
	size_t count = end - from;

	for (size_t i = count / 2; i-- > 0;)
		sift(s, from, i, count);
	while (count > 1) {
		swap(s, from, from + --count);
		sift(s, from, 0, count);
	}
}

/* Partitions the range around the median of three; returns the position of the median. */
static size_t partition(const struct sort *s, size_t from, size_t end)
{
	size_t middle = from + (end - from) / 2, last = end - 1, low = from + 1, high = last;

	if (cmp(s, middle, from) < 0)
		swap(s, middle, from);
	if (cmp(s, last, from) < 0)
		swap(s, last, from);
	if (cmp(s, last, middle) < 0)
		swap(s, last, middle);
	swap(s, from, middle);
	for (;;) {
		while (low <= high && cmp(s, low, from) < 0)
			low++;
		while (low <= high && cmp(s, from, high) < 0)
			high--;
		if (low >= high)
			break;
		swap(s, low++, high--);
	}
	swap(s, from, high);
	return high;
}

static void sort_range(const struct sort *s, size_t from, size_t end, unsigned depth)
{
	while (end - from > INSERTION_MAX) {
		size_t middle;

		if (!depth--) {
			sort_heap(s, from, end);
			return;
		}
		middle = partition(s, from, end);
		/* Recurses into the shorter side, so that the stack stays short. */
		if (middle - from < end - middle - 1) {
			sort_range(s, from, middle, depth);
			from = middle + 1;
		} else {
			sort_range(s, middle + 1, end, depth);
			end = middle;
		}
	}
	sort_insertion(s, from, end);
}

void sort_small_items(void *base, size_t count, size_t size,
		      int (*compare)(const void *a, const void *b, void *arg), void *arg)
{
	const struct sort s = {base, size, compare, arg};
	unsigned depth = 0;

	for (size_t i = count; i; i >>= 1)
		depth += 2;
	sort_range(&s, 0, count, depth);
}
