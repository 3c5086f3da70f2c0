// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A list that is walked: some hundred slots are a few cache lines, and there is nothing to get
 * wrong. Knows keys as numbers alone.
 */
#include "zmem/heavy.h"

#include <errno.h>
#include <stdlib.h>

int heavy_init(struct heavy *h, size_t size)
{
	*h = (struct heavy){.slot = calloc(size, sizeof(*h->slot)), .size = size};
	return h->slot ? 0 : -ENOMEM;
}

void heavy_done(struct heavy *h)
{
	free(h->slot);
	*h = (struct heavy){};
}

void heavy_fade(struct heavy *h, double keep)
{
	size_t to = 0;

	for (size_t i = 0; i < h->count; i++) {
		struct heavy_slot s = h->slot[i];

		s.weight *= keep;
		s.error *= keep;
		if (s.weight >= 1)
			h->slot[to++] = s;
	}
	h->count = to;
}

static struct heavy_slot *find(const struct heavy *h, uint64_t key)
{
	for (size_t i = 0; i < h->count; i++) {
		if (h->slot[i].key == key)
			return &h->slot[i];
	}
	return NULL;
}

static struct heavy_slot *lightest(const struct heavy *h)
{
	struct heavy_slot *least = h->slot;

	for (size_t i = 1; i < h->count; i++) {
		if (h->slot[i].weight < least->weight)
			least = &h->slot[i];
	}
	return least;
}

void heavy_add(struct heavy *h, uint64_t key, double weight)
{
	struct heavy_slot *s = find(h, key);

	if (!(weight > 0) || !h->size)
		return;
	if (s) {
		s->weight += weight;
	} else if (h->count < h->size) {
		h->slot[h->count++] = (struct heavy_slot){.key = key, .weight = weight};
	} else {
		s = lightest(h);
		*s = (struct heavy_slot){key, s->weight + weight, s->weight};
	}
}

double heavy_least(const struct heavy *h, uint64_t key)
{
	const struct heavy_slot *s = find(h, key);

	return s ? s->weight - s->error : 0;
}

double heavy_error(const struct heavy *h)
{
	return h->size && h->count == h->size ? lightest(h)->weight : 0;
}
