// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Opens perf maps while their processes run, and reads them when names are wanted. */
#include "grow/jit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"

int jit_maps_add(struct jit_maps *t, uint32_t parent, uint32_t *ret)
{
	struct jit_map *moved;

	if (t->count >= JIT_MAPS_MAX)
		return -ENOSPC;
	moved = grow_items(t->item, t->count, &t->capacity, 8, sizeof(*t->item));
	if (!moved)
		return -ENOMEM;
	t->item = moved;
	t->item[t->count] = (struct jit_map){.parent = parent, .fd = -1};
	*ret = (uint32_t)++t->count;
	return 0;
}

void jit_maps_open(struct jit_maps *t, uint32_t number, const struct address_space *s)
{
	struct jit_map *m = &t->item[number - 1];
	int fd = address_space_open_perf_map(s);

	if (fd < 0)
		return;
	if (m->fd >= 0)
		close(m->fd);
	m->fd = fd;
}

/* ---- names ---- */

static int add_address(struct jit_map *m, uint64_t address)
{
	struct perf_name *moved =
		grow_items(m->item, m->count, &m->capacity, 256, sizeof(*m->item));

	if (!moved)
		return -ENOMEM;
	m->item = moved;
	m->item[m->count++] = (struct perf_name){.address = address};
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct perf_name *x = a, *y = b;

	return x->address != y->address ? (x->address < y->address ? -1 : 1) : 0;
}

/* The last bytes of a file of this size. Returns how many there are now, or -ENOMEM. */
static ssize_t read_end(int fd, size_t size, size_t want, char **ret)
{
	cleanup_free char *text = malloc(want + 1);
	size_t len = 0;

	if (!text)
		return -ENOMEM;
	while (len < want) {
		ssize_t n = pread(fd, text + len, want - len, (off_t)(size - want + len));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	*ret = TAKE_PTR(text);
	return (ssize_t)len;
}

/* *left: so much may be read. */
static int name_all(struct jit_map *m, size_t *left)
{
	cleanup_free char *text = NULL;
	const char *begin, *end;
	struct stat st;
	size_t size, want;
	ssize_t len;

	arena_clear(&m->names);
	if (!m->count)
		return 0;
	qsort(m->item, m->count, sizeof(*m->item), compare);
	if (m->fd < 0 || fstat(m->fd, &st) < 0 || st.st_size <= 0)
		return 0;
	size = (size_t)st.st_size;
	want = size < JIT_BYTES_MAX ? size : JIT_BYTES_MAX;
	want = want < *left ? want : *left;
	len = read_end(m->fd, size, want, &text);
	if (len < 0)
		return (int)len;
	*left -= want;
	begin = text;
	/* The first line may lack its beginning. */
	if (want < size) {
		end = memchr(text, '\n', (size_t)len);
		begin = end ? end + 1 : text + len;
	}
	return perf_map_name(begin, (size_t)(text + len - begin), m->item, m->count, &m->names);
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
	size_t left = JIT_TOTAL_MAX;
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
		r = name_all(&t->item[i], &left);
		if (r == 0)
			r = ask_parent(t, &t->item[i]);
	}
	return r;
}

const char *jit_maps_find(const struct jit_maps *t, uint32_t number, uint64_t address,
			  uint64_t *ret_start)
{
	const struct perf_name key = {.address = address}, *found;

	for (; number; number = t->item[number - 1].parent) {
		const struct jit_map *m = &t->item[number - 1];

		found = m->count ? bsearch(&key, m->item, m->count, sizeof(key), compare) : NULL;
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
		struct jit_map *m = &t->item[i];

		if (m->fd >= 0)
			close(m->fd);
		free(m->item);
		arena_done(&m->names);
	}
	free(t->item);
	*t = (struct jit_maps){};
}
