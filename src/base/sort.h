/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sorting in place: qsort() takes memory for more than a kilobyte, and a tick must not. */
#ifndef ZMEM_BASE_SORT_H
#define ZMEM_BASE_SORT_H

#include <stddef.h>

#define SORT_SIZE_MAX 64 /* of an item */

/* As qsort_r(), of small items. What compares equal comes in any order. */
void sort_items(void *base, size_t count, size_t size,
		int (*compare)(const void *a, const void *b, void *arg), void *arg);

#endif
