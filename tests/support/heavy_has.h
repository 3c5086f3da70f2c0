/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whether a key has a slot. */
#ifndef TESTS_HEAVY_HAS_H
#define TESTS_HEAVY_HAS_H

#include <stdbool.h>

#include "zmem/heavy.h"

static inline bool heavy_has(const struct heavy *h, uint64_t key)
{
	for (size_t i = 0; i < h->count; i++) {
		if (h->slot[i].key == key)
			return true;
	}
	return false;
}

#endif
