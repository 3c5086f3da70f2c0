// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Pages by address. A page that was freed and touched again belongs to the last stack that touched
 * it.
 */
#include "grow/touched.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"

/* Documentation/admin-guide/mm/pagemap.rst */
#define PRESENT	   (UINT64_C(1) << 63)
#define SWAPPED	   (UINT64_C(1) << 62)
#define BLOCK	   512 /* entries that are read at once */
#define PAGES_MOST 512 /* of one fault: a huge page */

struct pagemap {
	int fd;
	uint64_t first; /* page of entry[0]; UINT64_MAX: none was read */
	size_t count;
	uint64_t entry[BLOCK];
};

static bool is_there(struct pagemap *m, uint64_t page)
{
	if (m->first == UINT64_MAX || page - m->first >= m->count) {
		uint64_t first = page - page % BLOCK;
		ssize_t n = pread(m->fd, m->entry, sizeof(m->entry), (off_t)(first * 8));

		m->first = first;
		m->count = n > 0 ? (size_t)n / 8 : 0;
	}
	return page - m->first < m->count && m->entry[page - m->first] & (PRESENT | SWAPPED);
}

/* How many of the pages around an address, which one fault added, are there. */
static uint32_t count_there(struct pagemap *m, uint64_t page, uint32_t pages)
{
	uint32_t window = 1, there = 0;

	while (window < pages && window < PAGES_MOST)
		window *= 2;
	page -= page % window;
	for (uint32_t i = 0; i < window; i++)
		there += is_there(m, page + i);
	return there < pages ? there : pages;
}

static int compare(const void *a, const void *b)
{
	const struct touched_page *x = a, *y = b;

	return x->address != y->address ? (x->address < y->address ? -1 : 1) : 0;
}

/* Of equal addresses the last one stays. The sort is stable, because it merges. */
static int merge_sort(struct touched_page *item, size_t count)
{
	cleanup_free struct touched_page *room = calloc(count + 1, sizeof(*room));
	struct touched_page *from = item, *to = room;

	if (!room)
		return -ENOMEM;
	for (size_t width = 1; width < count; width *= 2) {
		struct touched_page *swap = from;

		for (size_t i = 0; i < count; i += 2 * width) {
			size_t a = i, mid = i + width < count ? i + width : count;
			size_t end = mid + width < count ? mid + width : count, b = mid;

			for (size_t k = i; k < end; k++)
				to[k] = a < mid && (b >= end || compare(&from[a], &from[b]) <= 0)
						? from[a++]
						: from[b++];
		}
		from = to;
		to = swap;
	}
	if (from != item)
		memcpy(item, from, count * sizeof(*item));
	return 0;
}

static void ignore(void *arg, uint32_t stack, uint64_t bytes)
{
	(void)arg;
	(void)stack;
	(void)bytes;
}

void touched_add(struct touched *t, const struct address_space *space, uint64_t address,
		 uint32_t stack, uint32_t pages)
{
	struct touched_page *moved;

	if (t->count >= TOUCHED_MAX)
		touched_check(t, space, ignore, NULL);
	moved = t->count < TOUCHED_MAX
			? grow_items(t->item, t->count, &t->capacity, 4096, sizeof(*t->item))
			: NULL;
	if (!moved) {
		t->dropped += pages;
		return;
	}
	t->item = moved;
	t->item[t->count++] = (struct touched_page){address, stack, pages};
}

int touched_check(struct touched *t, const struct address_space *space,
		  void (*fn)(void *arg, uint32_t stack, uint64_t bytes), void *arg)
{
	uint64_t page_size = (uint64_t)sysconf(_SC_PAGESIZE);
	struct pagemap map = {.first = UINT64_MAX};
	cleanup_close int fd = address_space_open_own(space, "pagemap");
	size_t kept = 0;
	ssize_t n;
	int r;

	if (fd < 0)
		return fd;
	map.fd = fd;
	/* Of a process that is gone nothing can be read. */
	n = pread(fd, map.entry, 8, 0);
	if (n <= 0)
		return n < 0 ? -errno : -ESRCH;
	for (size_t i = 0; i < t->count; i++)
		t->item[i].address -= t->item[i].address % page_size;
	r = t->count ? merge_sort(t->item, t->count) : 0;
	for (size_t i = 0; r == 0 && i < t->count; i++) {
		struct touched_page p = t->item[i];
		uint32_t there;

		if (i + 1 < t->count && t->item[i + 1].address == p.address)
			continue;
		there = count_there(&map, p.address / page_size, p.pages);
		if (!there)
			continue;
		fn(arg, p.stack, there * page_size);
		t->item[kept++] = p;
	}
	if (r == 0)
		t->count = kept;
	return r;
}

void touched_done(struct touched *t)
{
	free(t->item);
	*t = (struct touched){};
}
