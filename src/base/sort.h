/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sorts in place without allocation; qsort() allocates for more than 1 KiB. */
#ifndef ZMEM_BASE_SORT_H
#define ZMEM_BASE_SORT_H

#include <stddef.h>

#define SORT_SIZE_MAX 64 /* bytes of an item */

/* Like qsort_r(), for small items. Equal items end in any order. */
void sort_items(void *base, size_t count, size_t size,
		int (*compare)(const void *a, const void *b, void *arg), void *arg);

#endif
