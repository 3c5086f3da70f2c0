// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Has perf maps opened while their processes run, and read when names are wanted. */
#include "code/jit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "code/code_helper.h"

int jit_maps_add(struct jit_maps *t, uint32_t parent, uint32_t *ret)
{
	if (t->count >= CODE_MAPS)
		return -ENOSPC;
	if (!array_room(&t->item, t->count, &t->capacity, 8))
		return -ENOMEM;
	t->item[t->count] = (struct jit_map){.parent = parent, .reason = GROWTH_OUT_REASONS};
	*ret = (uint32_t)++t->count;
	return 0;
}

void jit_maps_open(struct jit_maps *t, uint32_t number, const struct address_space *s)
{
	struct jit_map *m = &t->item[number - 1];
	int start = s->reader && s->root_fd >= 0 ? code_reader_begin(s->reader) : -ENOENT;
	int r = start < 0
			? start
			: code_reader_open_perf_map(s->reader, number - 1, s->root_fd, s->own_pid);

	if (r == 0) {
		m->reader = s->reader;
		m->start = start;
	}
	m->reason = r == 0 || m->reader ? GROWTH_OUT_REASONS : code_reason(r);
}

/* ---- names ---- */

static int add_address(struct jit_map *m, uint64_t address)
{
	if (!array_room(&m->item, m->count, &m->capacity, 256))
		return -ENOMEM;
	m->item[m->count++] = (struct code_name){.address = address};
	return 0;
}

static int note_name(void *arg, size_t i, uint64_t start, const char *name)
{
	struct jit_map *m = arg;

	m->item[i].start = start;
	m->item[i].name = arena_strndup(&m->names, name, strlen(name));
	return m->item[i].name ? 0 : -ENOMEM;
}

static int name_all(struct jit_map *m, uint32_t map)
{
	cleanup_free uint64_t *address = calloc(m->count + 1, sizeof(*address));
	int r = -ECHILD;

	arena_clear(&m->names);
	if (!address)
		return -ENOMEM;
	if (!m->count || !m->reader)
		return 0;
	code_names_sort(m->item, m->count);
	for (size_t i = 0; i < m->count; i++)
		address[i] = m->item[i].address;
	/* A new helper has no map; the process may be gone. */
	if (code_reader_begin(m->reader) == m->start)
		r = code_reader_name(m->reader, CODE_PERF_NAMES, map, address, m->count, note_name,
				     m);
	if (r < 0)
		m->reason = code_reason(r);
	return r == -ENOMEM ? r : 0;
}

/* What a map cannot name, its parent may. Only what has a name is kept. */
static int ask_parent(struct jit_maps *t, struct jit_map *m)
{
	size_t kept = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < m->count; i++) {
		if (m->item[i].name)
			m->item[kept++] = m->item[i];
		else if (m->parent)
			r = add_address(&t->item[m->parent - 1], m->item[i].address);
	}
	m->count = kept;
	if (!kept) {
		free(m->item);
		m->item = NULL;
		m->capacity = 0;
	}
	return r;
}

int jit_maps_read(struct jit_maps *t, const struct stack_table *stacks)
{
	int r = 0;

	for (size_t i = 0; i < t->count; i++)
		t->item[i].count = 0;
	for (size_t i = 0; r == 0 && t->count && i < stacks->codes; i++) {
		const struct code *c = &stacks->code[i];

		if (c->jit)
			r = add_address(&t->item[c->jit - 1], c->vaddr);
	}
	/* A parent is added before its children. */
	for (size_t i = t->count; r == 0 && i-- > 0;) {
		r = name_all(&t->item[i], (uint32_t)i);
		if (r == 0)
			r = ask_parent(t, &t->item[i]);
	}
	return r;
}

const char *jit_maps_find(const struct jit_maps *t, uint32_t number, uint64_t address,
			  uint64_t *ret_start, enum growth_out *ret_reason)
{
	*ret_reason = t->item[number - 1].reason;
	for (; number; number = t->item[number - 1].parent) {
		const struct jit_map *m = &t->item[number - 1];
		const struct code_name *found = code_names_find(m->item, m->count, address);

		if (!found || !found->name)
			continue;
		*ret_start = found->start;
		return found->name;
	}
	return NULL;
}

void jit_maps_done(struct jit_maps *t)
{
	for (size_t i = 0; i < t->count; i++) {
		free(t->item[i].item);
		arena_done(&t->item[i].names);
	}
	free(t->item);
	*t = (struct jit_maps){};
}
