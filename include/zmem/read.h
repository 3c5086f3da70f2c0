/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the records of the pin (zmem-bpf-pin(8)) without a library and without a capability: a
 * member of the pin's group sees all processes, with PSS. Header-only; C11 with GNU extensions.
 *
 *	struct zmem_pin pin;
 *	struct zmem_values v;
 *	int r = zmem_open(&pin);
 *
 *	while (r == 0 && (r = zmem_next(&pin, &v)) > 0)
 *		…
 *	zmem_close(&pin);
 *
 * The rules by which records grow are in record.h.
 */
#ifndef ZMEM_READ_H
#define ZMEM_READ_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record.h"
#include "setup.h"

#define ZMEM_PIN_TEXT_(n) #n
#define ZMEM_PIN_TEXT(n)  ZMEM_PIN_TEXT_(n)
#define ZMEM_PIN_PLACE	  "/run/zmem-bpf/" ZMEM_PIN_TEXT(ZMEM_RECORD_VERSION) "/"
#define ZMEM_VISITS_MAX	  512 /* of a process with too many pages for one visit */

struct zmem_pin {
	int fd;
	const char *path; /* of the iterator */
	size_t used, len; /* of buf */
	char buf[64 * 1024];
};

/* A process. A value that was not measured has no bit in `known`, and is 0. */
struct zmem_values {
	struct zmem_record record; /* members that the pin does not have are 0 */
	unsigned known;		   /* enum zmem_known */
	uint64_t rss, rss_anon, rss_file, rss_shmem, swap; /* bytes */
	uint64_t pss, pss_anon, pss_file, pss_shmem, uss;  /* bytes */
};

enum zmem_known {
	ZMEM_KNOWS_RSS = 1 << 0, /* rss…, swap */
	ZMEM_KNOWS_PSS = 1 << 1, /* pss…, uss; else it changed meanwhile, or the pin has no PSS */
};

/* Opens an iterator that root alone could have pinned. Returns a descriptor or a negative errno. */
static inline int zmem_open_path(const char *path)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == 0 &&
	    !(st.st_mode & (S_IWGRP | S_IWOTH)))
		return fd;
	close(fd);
	return -EPERM;
}

/* Returns 0, -ENOENT without a pin of this version, -EACCES outside of its group, or -errno. */
static inline int zmem_open(struct zmem_pin *pin)
{
	pin->used = pin->len = 0;
	pin->path = ZMEM_PIN_PLACE "pss";
	pin->fd = zmem_open_path(pin->path);
	if (pin->fd == -ENOENT) {
		pin->path = ZMEM_PIN_PLACE "counters";
		pin->fd = zmem_open_path(pin->path);
	}
	return pin->fd < 0 ? pin->fd : 0;
}

static inline void zmem_close(struct zmem_pin *pin)
{
	if (pin->fd >= 0)
		close(pin->fd);
	pin->fd = -1;
}

/*
 * Copies the record at `data`. Returns its size, 0 if it is not complete, or -EBADMSG. A record of
 * a newer program is longer: members that are not known lie before the pages, which come last.
 */
static inline long zmem_parse(const void *data, size_t len, struct zmem_pss_record *ret)
{
	struct zmem_record *r = &ret->record;
	size_t pages, copy;

	memset(ret, 0, sizeof(*ret));
	if (len < ZMEM_RECORD_SHORT)
		return 0;
	memcpy(r, data, ZMEM_RECORD_SHORT);
	pages = r->kind == ZMEM_PROCESS && (r->valid & ZMEM_VALID_PAGES) ? sizeof(ret->pages) : 0;
	copy = r->kind == ZMEM_PROCESS ? ZMEM_RECORD_FIRST : ZMEM_RECORD_SHORT;
	if (r->version != ZMEM_RECORD_VERSION || r->size % 8 || r->size < copy + pages)
		return -EBADMSG;
	if (r->size > len)
		return 0;
	if (r->kind != ZMEM_PROCESS)
		return r->size;
	copy = r->size - pages < sizeof(*r) ? r->size - pages : sizeof(*r);
	memcpy(r, data, copy);
	memcpy(&ret->pages, (const char *)data + r->size - pages, pages);
	return r->size;
}

/* True if the walk saw all pages, and no counter changed meanwhile. */
static inline bool zmem_is_whole(const struct zmem_pss_record *r)
{
	const __s64 *rss = r->record.rss;
	const struct zmem_pages *w = &r->pages;
	const __u32 valid = ZMEM_VALID_PAGES | ZMEM_VALID_RSS | ZMEM_VALID_SHARING;

	return (r->record.valid & valid) == valid && !(w->flags & ~ZMEM_WALK_EXCLUSIVE) &&
	       !w->cursor && rss[ZMEM_RSS_FILE] == (__s64)w->seen[ZMEM_RSS_FILE] &&
	       rss[ZMEM_RSS_SHMEM] == (__s64)w->seen[ZMEM_RSS_SHMEM] &&
	       rss[ZMEM_RSS_ANON] >= (__s64)w->seen[ZMEM_RSS_ANON] &&
	       rss[ZMEM_RSS_FILE] == w->rss[ZMEM_RSS_FILE] &&
	       rss[ZMEM_RSS_SHMEM] == w->rss[ZMEM_RSS_SHMEM] &&
	       ((w->flags & ZMEM_WALK_EXCLUSIVE) || (rss[ZMEM_RSS_ANON] == w->rss[ZMEM_RSS_ANON] &&
						     rss[ZMEM_RSS_SWAP] == w->rss[ZMEM_RSS_SWAP]));
}

/* Continues a walk at its cursor, or begins it again. Returns 0 or a negative errno. */
static inline int zmem_visit(const struct zmem_pin *pin, __s32 pid, __u64 cursor,
			     struct zmem_pss_record *ret)
{
	const union zmem_question question = {.pid = pid};
	char data[4096];
	/* The kernel would look for a second record in a larger buffer. */
	size_t len = 0, want = sizeof(*ret);
	int fd = zmem_open_path(pin->path);
	long size = fd < 0 ? fd : 0;

	while (size == 0) {
		ssize_t n = syscall(SYS_read, fd, data + len, want - len, ZMEM_ASK, question.bits,
				    cursor);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (n <= 0) {
			size = n < 0 ? -errno : -ESRCH;
			break;
		}
		len += (size_t)n;
		size = zmem_parse(data, len, ret);
		if (size == 0 && len == want) {
			/* The record of a newer program is longer. */
			want = ret->record.size;
			if (want <= len || want > sizeof(data))
				size = -EBADMSG;
		}
	}
	if (fd >= 0)
		close(fd);
	return size < 0 ? (int)size : 0;
}

/* Visits a process until all of its pages are seen; a process that changes is begun again twice. */
static inline void zmem_complete(const struct zmem_pin *pin, struct zmem_pss_record *r)
{
	struct zmem_pss_record next;
	unsigned again = 0;

	if (!(r->record.valid & ZMEM_VALID_PAGES) || (r->pages.flags & ZMEM_WALK_OFF))
		return;
	for (unsigned i = 0; i < ZMEM_VISITS_MAX && !zmem_is_whole(r); i++) {
		__u64 cursor = r->pages.cursor;

		if (!cursor && ++again > 2)
			return;
		if (zmem_visit(pin, r->record.pid, cursor, &next) < 0 ||
		    next.record.start_boottime_ns != r->record.start_boottime_ns)
			return;
		if (!cursor || next.record.mm_id != r->record.mm_id) {
			*r = next;
			continue;
		}
		for (unsigned k = 0; k < ZMEM_RSS_COUNT; k++) {
			next.pages.seen[k] += r->pages.seen[k];
			next.pages.pss[k] += r->pages.pss[k];
			if (next.record.rss[k] != r->record.rss[k] &&
			    !((next.pages.flags & ZMEM_WALK_EXCLUSIVE) &&
			      (k == ZMEM_RSS_ANON || k == ZMEM_RSS_SWAP)))
				next.pages.flags |= ZMEM_WALK_MOVED;
		}
		next.pages.unique += r->pages.unique;
		next.pages.huge += r->pages.huge;
		next.pages.flags |= r->pages.flags;
		*r = next;
	}
}

static inline void zmem_decode(const struct zmem_pss_record *r, struct zmem_values *ret)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), pages[ZMEM_RSS_COUNT], rest;
	const struct zmem_pages *w = &r->pages;

	memset(ret, 0, sizeof(*ret));
	ret->record = r->record;
	if (!(r->record.valid & ZMEM_VALID_RSS) || (r->record.flags & ZMEM_CUT_THREADS))
		return;
	for (unsigned k = 0; k < ZMEM_RSS_COUNT; k++) {
		__s64 sum = r->record.rss[k] + r->record.rss_delta[k];

		pages[k] = sum > 0 ? (uint64_t)sum : 0;
	}
	ret->known = ZMEM_KNOWS_RSS;
	ret->rss_anon = pages[ZMEM_RSS_ANON] * page;
	ret->rss_file = pages[ZMEM_RSS_FILE] * page;
	ret->rss_shmem = pages[ZMEM_RSS_SHMEM] * page;
	ret->rss = ret->rss_anon + ret->rss_file + ret->rss_shmem;
	ret->swap = pages[ZMEM_RSS_SWAP] * page;
	if (!zmem_is_whole(r))
		return;
	/* An anonymous page that the walk did not have to see is private. */
	rest = (uint64_t)r->record.rss[ZMEM_RSS_ANON] - w->seen[ZMEM_RSS_ANON];
	ret->known |= ZMEM_KNOWS_PSS;
	ret->pss_anon = w->pss[ZMEM_RSS_ANON] + (rest * page << ZMEM_PSS_SHIFT);
	ret->pss =
		(ret->pss_anon + w->pss[ZMEM_RSS_FILE] + w->pss[ZMEM_RSS_SHMEM]) >> ZMEM_PSS_SHIFT;
	ret->pss_anon >>= ZMEM_PSS_SHIFT;
	ret->pss_file = w->pss[ZMEM_RSS_FILE] >> ZMEM_PSS_SHIFT;
	ret->pss_shmem = w->pss[ZMEM_RSS_SHMEM] >> ZMEM_PSS_SHIFT;
	ret->uss = (w->unique + rest) * page;
}

/* Reads the next process. Returns 1, 0 at the end, or a negative errno. */
static inline int zmem_next(struct zmem_pin *pin, struct zmem_values *ret)
{
	struct zmem_pss_record r;

	for (;;) {
		long size = zmem_parse(pin->buf + pin->used, pin->len - pin->used, &r);
		ssize_t n;

		if (size < 0)
			return (int)size;
		if (size > 0) {
			pin->used += (size_t)size;
			zmem_complete(pin, &r);
			zmem_decode(&r, ret);
			return 1;
		}
		memmove(pin->buf, pin->buf + pin->used, pin->len - pin->used);
		pin->len -= pin->used;
		pin->used = 0;
		n = read(pin->fd, pin->buf + pin->len, sizeof(pin->buf) - pin->len);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (n <= 0)
			return n < 0 ? -errno : pin->len ? -EBADMSG : 0;
		pin->len += (size_t)n;
	}
}

#endif
