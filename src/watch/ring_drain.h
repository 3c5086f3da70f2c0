/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Empties a ring buffer of the kernel into memory by a thread of its own: the ring stays small, and
 * does not fill while its reader works.
 */
#ifndef ZMEM_WATCH_RING_DRAIN_H
#define ZMEM_WATCH_RING_DRAIN_H

#include <stddef.h>

/* Messages that wait take at most so many bytes; then they stay in the ring. */
#define RING_DRAIN_MAX ((size_t)128 << 20)

struct ring_drain;

/*
 * The thread has priority if the calling thread has CAP_SYS_NICE, and then no capabilities. It is
 * of a ring of so many bytes. The descriptor of the ring stays the caller's. Returns 0 or a
 * negative errno.
 */
int ring_drain_new(int ring_fd, size_t size, struct ring_drain **ret);
/*
 * Calls fn for each message so far, in order, until it returns a negative errno. A message is
 * aligned to 8 bytes. Returns how many messages there were, or a negative errno. One thread calls
 * it.
 */
int ring_drain_read(struct ring_drain *d, int (*fn)(void *arg, const void *message, size_t len),
		    void *arg);
/* NULL is allowed. */
void ring_drain_free(struct ring_drain *d);

#endif
