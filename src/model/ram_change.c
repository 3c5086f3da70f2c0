// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/ram_change.h"

#include <stdlib.h>

static uint64_t amount_of(const struct ram_change *c)
{
	return c->after > c->before ? c->after - c->before : c->before - c->after;
}

static int by_amount(const void *pa, const void *pb)
{
	const struct ram_change *a = pa, *b = pb;
	uint64_t x = amount_of(a), y = amount_of(b);

	if (x != y)
		return x < y ? 1 : -1;
	return a->class < b->class ? -1 : 1;
}

void ram_changes_make(const struct ram *before, const struct ram *after, struct ram_changes *ret)
{
	*ret = (struct ram_changes){};
	if (!ram_is_counted(before) || !ram_is_counted(after) ||
	    before->taken_ms == after->taken_ms)
		return;
	ret->known = true;
	ret->before_ms = before->taken_ms;
	ret->after_ms = after->taken_ms;
	for (int i = 0; i < RAM_CLASSES; i++) {
		const struct ram_figure *a = &before->figure[i], *b = &after->figure[i];

		if (a->known && b->known && a->bytes != b->bytes)
			ret->item[ret->count++] =
				(struct ram_change){(enum ram_class)i, a->bytes, b->bytes};
	}
	qsort(ret->item, ret->count, sizeof(*ret->item), by_amount);
	for (; ret->large < ret->count; ret->large++) {
		const struct ram_change *c = &ret->item[ret->large];
		uint64_t error = before->figure[c->class].error + after->figure[c->class].error;

		if (amount_of(c) < after->frames / 1000 || amount_of(c) <= error)
			break;
	}
}
