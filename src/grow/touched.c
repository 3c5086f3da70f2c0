// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Faults are appended as they come, so a page may be in the list several times. When it is asked
 * which pages are there, or when the list is full, it is sorted by address: of a page that was
 * freed and touched again the last stack stays. Then pagemap is asked in blocks, and pages that are
 * neither in RAM nor in swap leave the list.
 */
#include "grow/touched.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"

#define BLOCK 4096 /* pages that are asked for at once */

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
				to[k] = a < mid && (b >= end ||
						    compare_leading_u64(&from[a], &from[b]) <= 0)
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

void touched_add(struct touched *t, const struct address_space *space, struct process_reader *from,
		 struct touched_page page)
{
	if (t->count >= TOUCHED_MAX)
		touched_check(t, space, from, ignore, NULL);
	if (t->count < TOUCHED_MAX && array_room(&t->item, t->count, &t->capacity, 4096))
		t->item[t->count++] = page;
	else
		t->dropped += page.pages;
}

/* Keeps the last touch of each page, by address. */
static int sort_pages(struct touched *t)
{
	const uint64_t page_size = (uint64_t)sysconf(_SC_PAGESIZE);
	size_t kept = 0;
	int r;

	for (size_t i = 0; i < t->count; i++)
		t->item[i].address -= t->item[i].address % page_size;
	r = t->count ? merge_sort(t->item, t->count) : 0;
	for (size_t i = 0; r == 0 && i < t->count; i++) {
		if (i + 1 == t->count || t->item[i + 1].address != t->item[i].address)
			t->item[kept++] = t->item[i];
	}
	if (r == 0)
		t->count = kept;
	return r;
}

int touched_check(struct touched *t, const struct address_space *space, struct process_reader *from,
		  void (*fn)(void *arg, uint32_t stack, uint64_t bytes), void *arg)
{
	const uint64_t page_size = (uint64_t)sysconf(_SC_PAGESIZE);
	struct fault_pages block[BLOCK];
	size_t kept = 0, n;
	int r = space->pid_fd < 0 ? -ESRCH : sort_pages(t);

	/* Of a process without pages it is asked, too, whether it is gone. */
	for (size_t i = 0; r == 0 && (i < t->count || i == 0); i += n ? n : 1) {
		for (n = 0; n < BLOCK && i + n < t->count; n++)
			block[n] = (struct fault_pages){.page = t->item[i + n].address / page_size,
							.added = t->item[i + n].pages};
		r = process_count_pages(from, space->pid_fd, block, n);
		for (size_t k = 0; r == 0 && k < n; k++) {
			struct touched_page p = t->item[i + k];

			if (!block[k].there)
				continue;
			fn(arg, p.stack, block[k].there * page_size);
			t->item[kept++] = p;
		}
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
