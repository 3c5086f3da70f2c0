// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The ring is mapped here once; libbpf would map it twice, so that no message is in two pieces, and
 * memory that is mapped twice counts twice (kernel/bpf/ringbuf.c: a page with the position of the
 * reader, one with that of the writer, the data; in front of each message its length, with two
 * flags, and 4 bytes of the kernel's own).
 *
 * Messages wait in chunks, a list. The thread and the reader both move messages from the ring to
 * the list, under the lock. The reader takes the whole list away, and calls its function without
 * the lock. The ring wakes the thread when it is a quarter full; else the thread looks from time to
 * time.
 */
#include "watch/ring_drain.h"

#include <linux/bpf.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/thread.h"
#include "privilege/privilege.h"

#define BUSY_MS	    1
#define IDLE_MS	    20
#define CHUNK_FIRST ((size_t)64 << 10)
/* Chunks of a burst are huge pages, because a page fault takes longer than to copy a page. */
#define CHUNK	   ((size_t)2 << 20)
#define SPARE_MOST 4 /* chunks that are kept for later */

struct chunk {
	struct chunk *next;
	size_t used, size;
	uint64_t data[];
};

/* In front of each message. */
struct head {
	uint64_t len;
};

struct ring_drain {
	int ring_fd;
	uint64_t *read_pos; /* a page */
	struct ring_view {
		uint64_t write_pos; /* and the rest of its page; the data follow */
	} * view;
	const char *data;
	size_t size, page;
	pthread_mutex_t lock; /* of all below */
	struct chunk *first, *last, *spare;
	unsigned spares;
	size_t bytes; /* of chunks, also of those that the reader has taken */
	/* Not under the lock. */
	pthread_t thread;
	bool running;
	int stop_fd;
};

static size_t padded(size_t len)
{
	return (len + 7) & ~(size_t)7;
}

static struct chunk *new_chunk(struct ring_drain *d, size_t needed)
{
	size_t size = d->last ? CHUNK : CHUNK_FIRST;
	struct chunk *c = d->spare;

	if (needed > CHUNK - sizeof(*c))
		return NULL;
	if (c && d->last) {
		d->spare = c->next;
		d->spares--;
		return c;
	}
	if (needed > size - sizeof(*c))
		size = CHUNK;
	c = aligned_alloc(size, size);
	if (c && size == CHUNK)
		madvise(c, size, MADV_HUGEPAGE);
	if (c)
		c->size = size;
	return c;
}

static struct chunk *add_chunk(struct ring_drain *d, size_t needed)
{
	struct chunk *c = new_chunk(d, needed);

	if (!c)
		return NULL;
	c->next = NULL;
	c->used = 0;
	if (d->last)
		d->last->next = c;
	else
		d->first = c;
	d->last = c;
	d->bytes += c->size;
	return c;
}

/* Copies from the ring: behind its end, its beginning follows. */
static void copy_out(const struct ring_drain *d, char *to, uint64_t pos, size_t len)
{
	size_t at = pos & (d->size - 1), first = d->size - at < len ? d->size - at : len;

	memcpy(to, d->data + at, first);
	memcpy(to + first, d->data, len - first);
}

static int store(struct ring_drain *d, uint64_t pos, size_t len)
{
	const struct head head = {len};
	size_t needed = sizeof(head) + padded(len);
	struct chunk *c = d->last;
	char *to;

	if (!c || c->size - sizeof(*c) - c->used < needed)
		c = add_chunk(d, needed);
	if (!c)
		return -ENOMEM;
	to = (char *)c->data + c->used;
	memcpy(to, &head, sizeof(head));
	copy_out(d, to + sizeof(head), pos, len);
	c->used += needed;
	return 0;
}

/*
 * Moves what is complete, under the lock. Returns how many messages there were, or -ENOMEM; what
 * has no room stays in the ring.
 */
static int consume(struct ring_drain *d)
{
	uint64_t pos = *d->read_pos, end = __atomic_load_n(&d->view->write_pos, __ATOMIC_ACQUIRE);
	int n = 0;

	for (; pos < end && d->bytes <= RING_DRAIN_MAX; n++) {
		const char *at = d->data + (pos & (d->size - 1));
		uint32_t word = __atomic_load_n((const uint32_t *)at, __ATOMIC_ACQUIRE);
		uint32_t len = word & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

		if (word & BPF_RINGBUF_BUSY_BIT)
			break;
		if (!(word & BPF_RINGBUF_DISCARD_BIT) &&
		    store(d, pos + BPF_RINGBUF_HDR_SZ, len) < 0)
			return -ENOMEM;
		pos += padded(len + BPF_RINGBUF_HDR_SZ);
		__atomic_store_n(d->read_pos, pos, __ATOMIC_RELEASE);
	}
	return n;
}

static int drain(struct ring_drain *d)
{
	int n;

	pthread_mutex_lock(&d->lock);
	n = consume(d);
	pthread_mutex_unlock(&d->lock);
	return n;
}

/* Bytes that are in the ring. */
static uint64_t waiting(const struct ring_drain *d)
{
	uint64_t pos = __atomic_load_n(d->read_pos, __ATOMIC_ACQUIRE);

	return __atomic_load_n(&d->view->write_pos, __ATOMIC_ACQUIRE) - pos;
}

static void *drain_until_stopped(void *arg)
{
	struct ring_drain *d = arg;
	struct pollfd fd[] = {{.fd = d->stop_fd, .events = POLLIN},
			      {.fd = d->ring_fd, .events = POLLIN}};
	bool left = false;

	/* The thread works with what is mapped and open. */
	if (privilege_hurry_thread() < 0)
		return NULL;
	/*
	 * What is left in the ring has no room, or is being written, perhaps by a thread that waits
	 * for this CPU: then the ring is readable at once, and poll() would never sleep.
	 */
	while (poll(fd, left ? 1 : 2, left ? BUSY_MS : IDLE_MS) >= 0 || errno == EINTR) {
		if (fd[0].revents)
			break;
		while (drain(d) > 0 && waiting(d) > d->size / 8)
			;
		left = waiting(d) > 0;
	}
	return NULL;
}

static int map_ring(struct ring_drain *d)
{
	void *p = mmap(NULL, d->page, PROT_READ | PROT_WRITE, MAP_SHARED, d->ring_fd, 0);

	if (p == MAP_FAILED)
		return -errno;
	d->read_pos = p;
	p = mmap(NULL, d->page + d->size, PROT_READ, MAP_SHARED, d->ring_fd, (off_t)d->page);
	if (p == MAP_FAILED)
		return -errno;
	d->view = p;
	d->data = (const char *)p + d->page;
	return 0;
}

int ring_drain_new(int ring_fd, size_t size, struct ring_drain **ret)
{
	struct ring_drain *d = calloc(1, sizeof(*d));
	int r;

	if (!d)
		return -ENOMEM;
	pthread_mutex_init(&d->lock, NULL);
	d->ring_fd = ring_fd;
	d->size = size;
	d->page = (size_t)sysconf(_SC_PAGESIZE);
	d->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = d->stop_fd < 0 ? -errno : map_ring(d);
	if (r == 0)
		r = thread_start(&d->thread, drain_until_stopped, d);
	d->running = r == 0;
	if (r < 0) {
		ring_drain_free(d);
		return r;
	}
	*ret = d;
	return 0;
}

static void free_list(struct chunk *c)
{
	while (c) {
		struct chunk *next = c->next;

		free(c);
		c = next;
	}
}

/* What was read: some of it is used again. */
static void recycle_chunks(struct ring_drain *d, struct chunk *c)
{
	struct chunk *unused = NULL;

	pthread_mutex_lock(&d->lock);
	while (c) {
		struct chunk *next = c->next, **to = &unused;

		d->bytes -= c->size;
		if (c->size == CHUNK && d->spares < SPARE_MOST) {
			to = &d->spare;
			d->spares++;
		}
		c->next = *to;
		*to = c;
		c = next;
	}
	pthread_mutex_unlock(&d->lock);
	free_list(unused);
}

static int call_each(const struct chunk *c, int (*fn)(void *arg, const void *message, size_t len),
		     void *arg)
{
	int n = 0, r = 0;

	for (; c; c = c->next) {
		for (size_t at = 0; at < c->used;) {
			const char *from = (const char *)c->data + at;
			struct head head;

			memcpy(&head, from, sizeof(head));
			r = fn(arg, from + sizeof(head), head.len);
			if (r < 0)
				return r;
			n++;
			at += sizeof(head) + padded(head.len);
		}
	}
	return n;
}

int ring_drain_read(struct ring_drain *d, int (*fn)(void *arg, const void *message, size_t len),
		    void *arg)
{
	struct chunk *list;
	int n, r = drain(d);

	pthread_mutex_lock(&d->lock);
	list = d->first;
	d->first = d->last = NULL;
	pthread_mutex_unlock(&d->lock);
	n = call_each(list, fn, arg);
	recycle_chunks(d, list);
	return r < 0 ? r : n;
}

void ring_drain_free(struct ring_drain *d)
{
	const uint64_t one = 1;

	if (!d)
		return;
	if (d->running && write(d->stop_fd, &one, sizeof(one)) == sizeof(one))
		pthread_join(d->thread, NULL);
	free_list(d->first);
	free_list(d->spare);
	if (d->read_pos)
		munmap(d->read_pos, d->page);
	if (d->view)
		munmap(d->view, d->page + d->size);
	if (d->stop_fd >= 0)
		close(d->stop_fd);
	pthread_mutex_destroy(&d->lock);
	free(d);
}
