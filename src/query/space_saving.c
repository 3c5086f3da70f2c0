// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A list that is searched from its start: some hundred slots are a few cache lines. */
#include "query/space_saving.h"

#include <errno.h>
#include <stdlib.h>

int space_saving_init(struct space_saving *h, size_t size)
{
	*h = (struct space_saving){.slot = calloc(size, sizeof(*h->slot)), .size = size};
	return h->slot ? 0 : -ENOMEM;
}

void space_saving_done(struct space_saving *h)
{
	free(h->slot);
	*h = (struct space_saving){};
}

void space_saving_fade(struct space_saving *h, double keep)
{
	size_t to = 0;

	for (size_t i = 0; i < h->count; i++) {
		struct space_saving_slot s = h->slot[i];

		s.weight *= keep;
		s.error *= keep;
		if (s.weight >= 1)
			h->slot[to++] = s;
	}
	h->count = to;
}

static struct space_saving_slot *find(const struct space_saving *h, uint64_t key)
{
	for (size_t i = 0; i < h->count; i++) {
		if (h->slot[i].key == key)
			return &h->slot[i];
	}
	return NULL;
}

static struct space_saving_slot *lightest(const struct space_saving *h)
{
	struct space_saving_slot *least = h->slot;

	for (size_t i = 1; i < h->count; i++) {
		if (h->slot[i].weight < least->weight)
			least = &h->slot[i];
	}
	return least;
}

void space_saving_add(struct space_saving *h, uint64_t key, double weight)
{
	struct space_saving_slot *s = find(h, key);

	if (!(weight > 0) || !h->size)
		return;
	if (s) {
		s->weight += weight;
	} else if (h->count < h->size) {
		h->slot[h->count++] = (struct space_saving_slot){.key = key, .weight = weight};
	} else {
		s = lightest(h);
		*s = (struct space_saving_slot){key, s->weight + weight, s->weight};
	}
}

double space_saving_least(const struct space_saving *h, uint64_t key)
{
	const struct space_saving_slot *s = find(h, key);

	return s ? s->weight - s->error : 0;
}

double space_saving_error(const struct space_saving *h)
{
	return h->size && h->count == h->size ? lightest(h)->weight : 0;
}
