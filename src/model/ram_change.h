/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which classes of RAM changed between two censuses. Pure. */
#ifndef ZMEM_MODEL_RAM_CHANGE_H
#define ZMEM_MODEL_RAM_CHANGE_H

#include "model/ram.h"

struct ram_change {
	enum ram_class class;
	uint64_t before, after; /* bytes */
};

static inline int64_t ram_change_of(const struct ram_change *c)
{
	return (int64_t)(c->after - c->before);
}

struct ram_changes {
	bool known; /* there are two censuses */
	int64_t before_ms, after_ms;
	struct ram_change item[RAM_CLASSES]; /* largest first, up or down */
	size_t count;
	size_t large; /* of them: by a thousandth of RAM or more, and more than a sample may err */
};

/* Either may be NULL, and both may be the same. */
void ram_changes_make(const struct ram *before, const struct ram *after, struct ram_changes *ret);

#endif
