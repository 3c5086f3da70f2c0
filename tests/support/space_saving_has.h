/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whether a key has a slot. */
#ifndef TESTS_HEAVY_HAS_H
#define TESTS_HEAVY_HAS_H

#include <stdbool.h>

#include "query/space_saving.h"

static inline bool space_saving_has(const struct space_saving *h, uint64_t key)
{
	for (size_t i = 0; i < h->count; i++) {
		if (h->slot[i].key == key)
			return true;
	}
	return false;
}

#endif
