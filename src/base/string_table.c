// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A hash table of texts with open addressing. */
#include "base/string_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

void string_table_done(struct string_table *t)
{
	free(t->item);
	free(t->slot);
	*t = (struct string_table){0};
}

/* The slot of the text, or the free slot for it. A free slot always exists. */
static size_t probe(const struct string_table *t, const char *s)
{
	uint64_t hash = hash_text(HASH_START ^ t->seed, s);
	size_t at = (hash ^ hash >> 32) & (t->slots - 1);

	while (t->slot[at] && strcmp(t->item[t->slot[at] - 1], s) != 0)
		at = (at + 1) & (t->slots - 1);
	return at;
}

/* Doubles the slots; at most half of them are used. */
static int grow(struct string_table *t)
{
	size_t slots = t->slots ? 2 * t->slots : 256;
	uint32_t *slot = calloc(slots, sizeof(*slot));
	const char **item = slot ? realloc(t->item, slots / 2 * sizeof(*item)) : NULL;

	if (!item) {
		free(slot);
		return -ENOMEM;
	}
	free(t->slot);
	t->item = item;
	t->slot = slot;
	t->slots = slots;
	for (size_t i = 0; i < t->count; i++)
		slot[probe(t, item[i])] = (uint32_t)i + 1;
	return 0;
}

int string_table_number(struct string_table *t, const char *s, uint32_t *ret_number)
{
	size_t at;

	if (2 * t->count >= t->slots && grow(t) < 0)
		return -ENOMEM;
	at = probe(t, s);
	if (!t->slot[at]) {
		t->item[t->count++] = s;
		t->slot[at] = (uint32_t)t->count;
	}
	*ret_number = t->slot[at] - 1;
	return 0;
}
