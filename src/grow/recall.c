// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A table with open addressing, by a hash of the stack: where the thread is, and the words of the
 * copy that may be return addresses. Half of its slots are free; when it is fuller, it is cleared.
 */
#include "grow/recall.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "code/stack_message.h"

#define RECALL_SLOTS (1u << 14)

struct recalled {
	uint64_t key;
	uint32_t value;
	bool used;
};

/* Words that may be return addresses, and where they are; frames are as far apart as they are. */
static uint64_t stack_key(const struct code_space *s, const struct zmem_grow_stack *m)
{
	uint64_t low = s->count ? s->image[0].start : 0;
	uint64_t size = s->count ? s->image[s->count - 1].end - low : 0;
	uint64_t hash = hash_number(m->regs[STACK_WORD_IP] ^ m->absent, s->generation);

	if (m->regs[STACK_WORD_BP] - m->regs[STACK_WORD_SP] < m->len)
		hash = hash_number(hash, m->regs[STACK_WORD_BP] - m->regs[STACK_WORD_SP]);
	for (uint32_t i = 0; i + 8 <= m->len; i += 8) {
		uint64_t word;

		if (!stack_has(m, i))
			continue;
		memcpy(&word, m->copy + i, sizeof(word));
		if (word - low < size && code_space_find(s, word))
			hash = hash_number(hash_number(hash, word), i);
	}
	return hash;
}

bool recall_find(const struct recall *r, const struct code_space *s,
		 const struct zmem_grow_stack *m, uint64_t *ret_key, uint32_t *ret_value)
{
	uint64_t key = stack_key(s, m);

	*ret_key = key;
	for (size_t i = key % RECALL_SLOTS; r->slot && r->slot[i].used;
	     i = (i + 1) % RECALL_SLOTS) {
		if (r->slot[i].key != key)
			continue;
		*ret_value = r->slot[i].value;
		return true;
	}
	return false;
}

void recall_forget(struct recall *r)
{
	if (r->slot)
		memset(r->slot, 0, RECALL_SLOTS * sizeof(*r->slot));
	r->used = 0;
}

void recall_add(struct recall *r, uint64_t key, uint32_t value)
{
	size_t i = key % RECALL_SLOTS;

	if (!r->slot)
		r->slot = calloc(RECALL_SLOTS, sizeof(*r->slot));
	if (!r->slot)
		return;
	if (r->used >= RECALL_SLOTS / 2)
		recall_forget(r);
	while (r->slot[i].used)
		i = (i + 1) % RECALL_SLOTS;
	r->slot[i] = (struct recalled){.key = key, .value = value, .used = true};
	r->used++;
}

void recall_done(struct recall *r)
{
	free(r->slot);
	*r = (struct recall){};
}
