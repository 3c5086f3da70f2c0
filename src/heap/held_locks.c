// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "heap/held_locks.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"

#define LOOK_MS 5

struct lock_list {
	struct zmem_grow_lock *item;
	size_t count, capacity;
};

static void lock_list_done(struct lock_list *l)
{
	free(l->item);
}

static int add(void *arg, const void *lock)
{
	struct lock_list *l = arg;

	if (!array_room(&l->item, l->count, &l->capacity, 16))
		return -ENOMEM;
	memcpy(&l->item[l->count++], lock, sizeof(*l->item));
	return 0;
}

static bool is_still_held(const struct lock_list *now, const struct zmem_grow_lock *before)
{
	for (size_t i = 0; i < now->count; i++) {
		if (now->item[i].mm == before->mm)
			return now->item[i].writer == before->writer;
	}
	return false;
}

struct lock_holder_text lock_holder_text(const struct lock_holder *h)
{
	struct lock_holder_text text;

	if (h->pid)
		snprintf(text.s, sizeof(text.s), "process %d (%s)", h->pid, h->comm);
	else
		snprintf(text.s, sizeof(text.s), "a process of another pid namespace (%s)",
			 h->comm);
	return text;
}

int held_locks_wait(struct grow_watch *w, uint64_t mapping, uint64_t wait_us, int hurry_fd,
		    struct lock_holder *ret)
{
	cleanup(lock_list_done) struct lock_list kept = {}, now = {};
	struct pollfd hurry = {.fd = hurry_fd, .events = POLLIN};
	const uint64_t end = clock_us(CLOCK_MONOTONIC) + wait_us;
	ssize_t r = grow_watch_heap_locks(w, mapping, add, &kept);

	while (r >= 0 && kept.count && clock_us(CLOCK_MONOTONIC) < end &&
	       poll(&hurry, 1, LOOK_MS) == 0) {
		size_t count = 0;

		now.count = 0;
		r = grow_watch_heap_locks(w, mapping, add, &now);
		for (size_t i = 0; i < kept.count; i++) {
			if (is_still_held(&now, &kept.item[i]))
				kept.item[count++] = kept.item[i];
		}
		kept.count = count;
	}
	if (r < 0)
		return (int)r;
	if (!kept.count)
		return 0;
	*ret = (struct lock_holder){.pid = kept.item[0].pid};
	memcpy(ret->comm, kept.item[0].comm, sizeof(kept.item[0].comm));
	return 1;
}
