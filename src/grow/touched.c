// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A table of pages with open addressing, by a hash of their numbers. The search for a page begins
 * at its hash and ends at a free slot; a quarter of the slots are free. Where memory moves, its
 * pages move in the table, which costs no more than what the kernel did. To ask which pages are
 * there, those of the table are put into order, and pagemap is asked in blocks; pages that are
 * neither in RAM nor in swap leave the table.
 */
#include "grow/touched.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"

#define BLOCK	    4096 /* pages that are asked for at once */
#define SLOTS_FIRST 1024

/* ---- the table ---- */

/* A process chooses its pages: where the table is, it does not know. */
static size_t home_of(const struct touched *t, uint64_t page)
{
	return hash_number((uintptr_t)t->slot, page) & (t->slots - 1);
}

/* The slot of the page, or the free one where it belongs. */
static struct touched_page *find(const struct touched *t, uint64_t page)
{
	size_t at = home_of(t, page);

	while (t->slot[at].page && t->slot[at].page != page)
		at = (at + 1) & (t->slots - 1);
	return &t->slot[at];
}

static void store_page(struct touched *t, struct touched_page page)
{
	struct touched_page *slot = find(t, page.page);

	t->count += !slot->page;
	*slot = page;
}

/* Moves pages behind the slot up that would not be found past a free slot. */
static void remove_slot(struct touched *t, struct touched_page *slot)
{
	size_t mask = t->slots - 1, hole = (size_t)(slot - t->slot);

	t->count--;
	for (size_t at = (hole + 1) & mask; t->slot[at].page; at = (at + 1) & mask) {
		size_t home = home_of(t, t->slot[at].page);

		if (((at - home) & mask) < ((at - hole) & mask))
			continue;
		t->slot[hole] = t->slot[at];
		hole = at;
	}
	t->slot[hole] = (struct touched_page){};
}

static int grow_table(struct touched *t)
{
	struct touched larger = {.slots = t->slots ? 2 * t->slots : SLOTS_FIRST};

	larger.slot = calloc(larger.slots, sizeof(*larger.slot));
	if (!larger.slot)
		return -ENOMEM;
	for (size_t i = 0; i < t->slots; i++) {
		if (t->slot[i].page)
			store_page(&larger, t->slot[i]);
	}
	larger.dropped = t->dropped;
	free(t->slot);
	*t = larger;
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
	if (t->count >= TOUCHED_MAX || (t->count >= t->slots / 4 * 3 && grow_table(t) < 0))
		t->dropped += page.pages;
	else if (page.page)
		store_page(t, page);
}

/* ---- moving ---- */

/* Takes the pages of a range out. Returns how many there were; *ret, if there is room for them. */
static size_t remove_range(struct touched *t, uint64_t from, uint64_t count,
			   struct touched_page *ret)
{
	size_t n = 0;

	for (uint64_t i = 0; i < count; i++) {
		struct touched_page *slot = find(t, from + i);

		if (!slot->page)
			continue;
		if (ret)
			ret[n++] = *slot;
		remove_slot(t, slot);
	}
	return n;
}

/* Likewise, for a range of more pages than the table has. Slots move, so each is found anew. */
static size_t remove_large_range(struct touched *t, uint64_t from, uint64_t count,
				 struct touched_page *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < t->slots; i++) {
		if (t->slot[i].page && t->slot[i].page - from < count)
			ret[n++] = t->slot[i];
	}
	for (size_t i = 0; i < n; i++)
		remove_slot(t, find(t, ret[i].page));
	return n;
}

void touched_move(struct touched *t, uint64_t from, uint64_t to, uint64_t count)
{
	size_t room = count < t->count ? (size_t)count : t->count, n;
	cleanup_free struct touched_page *moved = calloc(room + 1, sizeof(*moved));

	if (!t->count)
		return;
	if (!moved) {
		t->dropped += room;
		return;
	}
	/* What was there before is gone. */
	if (count <= t->count)
		remove_range(t, to, count, NULL);
	else
		remove_large_range(t, to, count, moved);
	n = count <= t->count ? remove_range(t, from, count, moved)
			      : remove_large_range(t, from, count, moved);
	for (size_t i = 0; i < n; i++) {
		moved[i].page += to - from;
		store_page(t, moved[i]);
	}
}

/* ---- asking ---- */

static int compare_pages(const void *a, const void *b)
{
	return compare_leading_u64(a, b);
}

/* Puts the pages into order, at the beginning of memory that is no table then. */
static void line_up(struct touched *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->slots; i++) {
		if (t->slot[i].page)
			t->slot[n++] = t->slot[i];
	}
	if (n)
		qsort(t->slot, n, sizeof(*t->slot), compare_pages);
}

int touched_check(struct touched *t, const struct address_space *space, struct process_reader *from,
		  void (*fn)(void *arg, uint32_t stack, uint64_t bytes), void *arg)
{
	const uint64_t page_size = (uint64_t)sysconf(_SC_PAGESIZE);
	struct touched kept = {.slots = t->slots, .dropped = t->dropped};
	struct fault_pages block[BLOCK];
	size_t count = t->count, n;
	int r = space->pid_fd < 0 ? -ESRCH : 0;

	if (r == 0 && t->slots) {
		kept.slot = calloc(kept.slots, sizeof(*kept.slot));
		r = kept.slot ? 0 : -ENOMEM;
	}
	if (r < 0)
		return r;
	line_up(t);
	/* A process without pages is asked once, too: it may be gone. */
	for (size_t i = 0; r == 0 && (i < count || i == 0); i += n ? n : 1) {
		for (n = 0; n < BLOCK && i + n < count; n++)
			block[n] = (struct fault_pages){.page = t->slot[i + n].page,
							.added = t->slot[i + n].pages};
		r = process_count_pages(from, space->pid_fd, block, n);
		for (size_t k = 0; k < n; k++) {
			struct touched_page p = t->slot[i + k];

			/* Pages of which nothing is known stay. */
			if (r < 0 || block[k].there)
				store_page(&kept, p);
			if (r == 0 && block[k].there)
				fn(arg, p.stack, block[k].there * page_size);
		}
	}
	touched_done(t);
	*t = kept;
	return r;
}

void touched_done(struct touched *t)
{
	free(t->slot);
	*t = (struct touched){};
}
