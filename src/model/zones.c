// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/zones.h"

#include <stdlib.h>

#include "base/array.h"

uint64_t zones_phys_mask(uint64_t end, size_t page_size)
{
	uint64_t mask = page_size;

	while (mask < end * page_size)
		mask <<= 1;
	return (mask - 1) & ~(uint64_t)(page_size - 1);
}

uint64_t zones_present(const struct zones *z)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < z->count; i++)
		sum += z->zone[i].present;
	return sum;
}

size_t zones_spans(const struct zones *z, struct frame_span *ret, bool *ret_mixed)
{
	size_t count = 0;

	*ret_mixed = false;
	for (size_t i = 0; i < z->count; i++)
		ret[i] = (struct frame_span){
			z->zone[i].start, z->zone[i].start + z->zone[i].spanned, z->zone[i].node};
	qsort(ret, z->count, sizeof(*ret), compare_leading_u64);
	for (size_t i = 0; i < z->count; i++) {
		struct frame_span *last = count ? &ret[count - 1] : NULL;

		if (last && ret[i].first < last->end && ret[i].node != last->node)
			*ret_mixed = true;
		if (last && ret[i].first <= last->end &&
		    (ret[i].node == last->node || ret[i].first < last->end)) {
			if (ret[i].end > last->end)
				last->end = ret[i].end;
			continue;
		}
		ret[count++] = ret[i];
	}
	return count;
}
