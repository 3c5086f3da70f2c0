/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The pages that stacks have added, to ask later which of them are still there. */
#ifndef ZMEM_GROW_TOUCHED_H
#define ZMEM_GROW_TOUCHED_H

#include <stddef.h>
#include <stdint.h>

#include "code/address_space.h"

struct touched_page {
	uint64_t page; /* its number: address / page size; 0: a free slot */
	uint32_t stack;
	uint32_t pages; /* that were added there at once */
};

/* Zeroed memory is empty. */
struct touched {
	struct touched_page *slot;
	size_t count, slots;
	uint64_t dropped; /* pages for which there was no room */
};

#define TOUCHED_MAX (3u << 20) /* in 64 MiB */

/*
 * Adds pages; of a page that was freed and touched again the last stack stays. `space`: where pages
 * that have gone since are dropped, if there are too many. Never fails: pages without room are
 * counted.
 */
void touched_add(struct touched *t, const struct address_space *space, struct process_reader *from,
		 struct touched_page page);
/* The process has moved memory: numbers of pages, and how many. */
void touched_move(struct touched *t, uint64_t from, uint64_t to, uint64_t count);
/*
 * Asks /proc/PID/pagemap which pages are in RAM or in swap, and drops the others. Calls fn for each
 * stack that has some, maybe several times. Returns 0, or a negative errno: -ESRCH if the process
 * is gone, and those of helper_call().
 */
int touched_check(struct touched *t, const struct address_space *space, struct process_reader *from,
		  void (*fn)(void *arg, uint32_t stack, uint64_t bytes), void *arg);
void touched_done(struct touched *t);

#endif
